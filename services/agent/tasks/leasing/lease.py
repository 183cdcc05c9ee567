"""Who fires all tasks (rule 9): a row with a fence, renewed every few seconds, that another process takes when it shows no life.

No session lock and no transaction holds it, so a pool that renews its connections, a server that ends a session, or a process that is frozen changes nothing
but who holds it next. Whether a write counts is not decided here: every one carries the fence, and the database refuses that of an older one.
"""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from services.agent.tasks.leasing import store
from services.agent.tasks.leasing.store import Lease
from services.agent.tasks.tables import LEASE_S
from shared.db import Database
from shared.db.engine import FULL, GONE, SLOW
from shared.db.raw import Raw
from shared.tasks import cancel, spawn

log = structlog.get_logger()
RENEW_EVERY, LOOK_EVERY = 4.0, 1.0
"""Seconds: of the holder; of whoever stands by."""
ANSWER_WITHIN = 3.0
AWAY = (*GONE, *SLOW, *FULL)
"""The database may take it a little later."""
SURE_FOR = LEASE_S - 3.0
"""Seconds since the last renewal, on its own clock, after which a holder takes itself for replaced."""


class TaskLease:
    """A part. `holder` names this start of the process, `part` the process: an earlier start of the same one is dead, and not waited for."""

    def __init__(self, db: Database, holder: str, part: str) -> None:
        self._db, self._holder, self._part = db, holder, part
        self._fence: int | None = None
        self._renewed = float("-inf")
        self._seen: tuple[int, int] | None = None
        self._seen_since = 0.0
        self._first = True
        self._connection: Raw | None = None
        self._task: asyncio.Task[None] | None = None
        self._nudged = asyncio.Event()
        self.taken: Callable[[], None] = lambda: None
        self.handed_back: Callable[[], None] = lambda: None
        self.held_by = ""

    @property
    def fence(self) -> int | None:
        """The number under which this process may write; None while another holds the lease, or may."""
        return self._fence if _clock() - self._renewed < SURE_FOR else None

    def nudge(self) -> None:
        """Look at once: whoever held it may have handed it back."""
        self._nudged.set()

    def lost(self) -> None:
        """The database has refused a write of ours: somebody else holds it."""
        if self._fence is not None:
            log.warning("tasks.lease_lost", fence=self._fence)
        self._fence = None

    async def start(self) -> None:
        self._task = spawn(self._run(), "task lease")

    async def stop(self) -> None:
        await cancel(self._task)
        with contextlib.suppress(*AWAY):
            if self._fence is not None:
                async with asyncio.timeout(ANSWER_WITHIN):
                    await store.hand_back(await self._open(), self._holder, self._fence)
                self.handed_back()
        self._fence = None
        if self._connection is not None:
            self._connection.terminate()

    async def _run(self) -> None:
        while True:
            self._nudged.clear()
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    await self._step(await self._open())
            except AWAY as error:
                self._drop(error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RENEW_EVERY if self._fence is not None else LOOK_EVERY):
                    await self._nudged.wait()

    async def _step(self, connection: Raw) -> None:
        """Renew what is ours, or take what is nobody's any more. The time counts from before the question: an answer may have been long on its way."""
        asked = _clock()
        if self._fence is not None:
            if await store.renew(connection, self._holder, self._fence):
                self._renewed = asked
                return
            self.lost()
        fence = await self._take(connection)
        if fence is not None:
            self._fence, self._renewed, self.held_by = fence, asked, self._part
            log.info("tasks.lease_taken", fence=fence)
            self.taken()

    async def _take(self, connection: Raw) -> int | None:
        seen = await store.read(connection)
        first, self._first = self._first, False
        if seen is None:
            return await store.take_first(connection, self._holder, self._part)
        self.held_by = seen.part if seen.holder else ""
        earlier = first and seen.part == self._part
        return await store.take(connection, self._holder, self._part, seen, dead=earlier or self._shows_no_life(seen))

    def _shows_no_life(self, seen: Lease) -> bool:
        """Its beat has stood still for the length of a lease, by this process's own clock: whatever the database's clock was set to."""
        if self._seen != (seen.fence, seen.beat):
            self._seen, self._seen_since = (seen.fence, seen.beat), _clock()
        return _clock() - self._seen_since >= LEASE_S

    async def _open(self) -> Raw:
        """A connection of its own: renewing waits for nobody's query."""
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._db.connect()
        return self._connection

    def _drop(self, error: BaseException) -> None:
        log.warning("tasks.lease_waits", error=repr(error))
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _clock() -> float:
    return asyncio.get_running_loop().time()
