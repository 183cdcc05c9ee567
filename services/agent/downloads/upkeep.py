"""Clears away by itself: links that have expired, and copies that nobody asks for or that belong to no link any more."""

import asyncio

import structlog

from services.agent.downloads import store
from services.agent.downloads.spool import Spool
from services.agent.downloads.usecases.drop_expired import AT_ONCE, drop_expired
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 60.0


class DownloadUpkeep:
    """A part of the service; in several instances each does it, and none disturbs another."""

    def __init__(self, db: Database, spool: Spool) -> None:
        self._db, self._spool = db, spool
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="downloads")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            try:
                await self.once()
            except SchleuseError as error:
                log.warning("downloads.upkeep", error=error.message)
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        gone = AT_ONCE
        while gone == AT_ONCE:
            async with self._db.transaction() as tx:
                gone = await drop_expired(tx, now())
        copies = await asyncio.to_thread(self._spool.names)
        async with self._db.reading() as tx:
            stay = await store.known(tx, copies, now())
        await asyncio.to_thread(self._spool.remove, *(each for each in copies if each not in stay))
        await asyncio.to_thread(self._spool.clear)
