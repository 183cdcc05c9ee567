"""Once a minute: old raw signals go, and counts that other instances of the site changed are read again. After a failure it is soon."""

import asyncio
import contextlib
from collections.abc import Callable
from uuid import UUID

from services.site.attachments import store as attachments
from services.site.signals import store
from services.site.signals.tallies import Tallies
from services.site.signals.usecases.prune_signals import prune_signals
from shared.db import Database
from shared.errors import Transient
from shared.health import Health
from shared.tasks import cancel, spawn

EVERY, CALM = 60.0, 2.0
MOST_READ = 20
SELDOM = 300.0
UNUSED = 3600.0
"""Seconds that an attachment may lie here before an item uses it."""


class Upkeep:
    """A part of the service. `most_read` is told the items with most views of the last 7 days, `read_together` which are read by the same visitors."""

    def __init__(
        self,
        db: Database,
        health: Health,
        tallies: Tallies,
        most_read: Callable[[list[UUID]], None],
        read_together: Callable[[dict[UUID, tuple[UUID, ...]]], None],
    ) -> None:
        self._db, self._health, self._tallies, self._most_read = db, health, tallies, most_read
        self._read_together = read_together
        self._task: asyncio.Task[None] | None = None
        self._hurried = asyncio.Event()

    async def start(self) -> None:
        await self._read()
        self._task = spawn(self._run(), name="upkeep")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        clock, pruned, related = asyncio.get_running_loop().time, float("-inf"), float("-inf")
        await self._rest()
        while True:
            try:
                if clock() - pruned >= EVERY:
                    self._health.figures["signals_pruned"], pruned = await prune_signals(self._db), clock()
                await self._read()
                if clock() - related >= SELDOM:
                    related = clock()
                    await self._relate()
                self._health.set("upkeep", True)
            except Transient as error:
                self._health.set("upkeep", False, error.message)
                await asyncio.sleep(CALM)
                continue
            await self._rest()

    async def _relate(self) -> None:
        async with self._db.reading() as tx:
            self._read_together(await store.read_together(tx))
        async with self._db.transaction() as tx:
            await attachments.prune(tx, UNUSED)

    def hurry(self) -> None:
        """Another instance counted votes."""
        self._hurried.set()

    async def _rest(self) -> None:
        await asyncio.sleep(CALM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EVERY - CALM):
                await self._hurried.wait()
        self._hurried.clear()

    async def _read(self) -> None:
        async with self._db.reading() as tx:
            self._tallies.update(await store.tallies(tx))
            self._most_read(await store.most_read(tx, MOST_READ))
