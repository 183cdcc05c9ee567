"""One account's bookings go to the database together: what comes while one transaction runs is in the next (group commit).

Each booking still is one unit: when a transaction fails for one of them, each is tried alone. What must not be lost is tried again while the
database is away; whoever wants to begin something is told at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import asyncpg
import structlog

from schemas.outward import Owner
from shared.errors import SchleuseError, Transient
from shared.tasks import spawn

log = structlog.get_logger()
AGAIN, PATIENCE = 0.5, 60.0
"""Seconds between tries while the database is away, and altogether."""
MOST = 200
"""Bookings of one transaction; an event holds up to 500 rows."""


class Booking(Protocol):
    """Something to be written for one account. `patient`: it waits for a database that is away."""

    @property
    def patient(self) -> bool: ...
    def again(self, found: Any) -> Any:
        """The result, when an earlier try may have been written although it failed."""
        ...


@dataclass
class _Waiting:
    booking: Booking
    done: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


Book = Callable[[Owner, Sequence[Any]], Awaitable[Sequence[Any]]]
"""Write them in one transaction: a result or a SchleuseError for each, in order."""


class Lanes:
    """`orphaned(account, booking, result)`: written, but whoever asked for it is gone."""

    def __init__(self, book: Book, orphaned: Callable[[Owner, Any, Any], None]) -> None:
        self._book, self._orphaned = book, orphaned
        self._waiting: dict[Owner, list[_Waiting]] = {}
        self._tasks: dict[Owner, asyncio.Task[None]] = {}

    async def submit(self, account: Owner, booking: Booking) -> Any:
        """Its result once it is durable; what was wrong with it is raised."""
        mine = self.leave(account, booking)
        found = await mine
        if isinstance(found, SchleuseError):
            raise found
        return found

    def leave(self, account: Owner, booking: Booking) -> "asyncio.Future[Any]":
        """The same without waiting for it."""
        mine = _Waiting(booking)
        self._waiting.setdefault(account, []).append(mine)
        if account not in self._tasks:
            self._tasks[account] = spawn(self._drain(account), "ledger")
        return mine.done

    async def drained(self) -> None:
        """Everything that was submitted is written."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values())

    async def _drain(self, account: Owner) -> None:
        while waiting := self._waiting.get(account):
            batch, self._waiting[account] = waiting[:MOST], waiting[MOST:]
            for each, found in zip(batch, await self._results(account, batch), strict=True):
                if each.done.cancelled():
                    self._orphaned(account, each.booking, found)
                else:
                    each.done.set_result(found)
        del self._waiting[account], self._tasks[account]

    async def _results(self, account: Owner, batch: Sequence[_Waiting]) -> Sequence[Any]:
        try:
            return await self._book(account, [each.booking for each in batch])
        except (SchleuseError, asyncpg.PostgresError) as error:
            failed = (
                error if isinstance(error, SchleuseError) else SchleuseError(f"the ledger could not write: {error}")
            )
        if len(batch) == 1:
            return [await self._alone(account, batch[0].booking, failed)]
        return [(await self._results(account, [each]))[0] for each in batch]

    async def _alone(self, account: Owner, booking: Booking, failed: SchleuseError) -> Any:
        """One that failed. Where the answer to a try was lost, the next one finds its row there: that is no conflict."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while booking.patient and isinstance(failed, Transient) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(AGAIN)
            try:
                [found] = await self._book(account, [booking])
                return booking.again(found)
            except SchleuseError as error:
                failed = error
        log.warning("ledger.failed", error=failed.message)
        return failed
