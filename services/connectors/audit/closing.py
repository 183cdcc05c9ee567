"""At a start: calls that the process before this one began and did not end become `lost`."""

import asyncio

import structlog

from services.connectors.audit import store
from services.connectors.audit.usecases.close_lost import close_lost
from shared.db import Database
from shared.errors import Transient
from shared.tasks import cancel, spawn

log = structlog.get_logger()
AGAIN = 1.0


class LostCalls:
    """A part, started before anybody can ask. `part` is what this instance's `begun` entries name."""

    def __init__(self, db: Database, part: str) -> None:
        self._db, self._part = db, part
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        async with self._db.reading() as tx:
            head = await store.read_head(tx)
        self._task = spawn(self._close(head.seq), "lost calls")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _close(self, until: int) -> None:
        while not await self._closed(until):  # noqa: ASYNC110 - the database comes back when it does
            await asyncio.sleep(AGAIN)

    async def _closed(self, until: int) -> bool:
        try:
            async with self._db.transaction() as tx:
                found = await close_lost(tx, self._part, until)
        except Transient:
            return False
        if found:
            log.warning("audit.calls_lost", calls=found)
        return True
