"""Looks whether a submission that waits has all its attachments now: inspected then outside of any transaction, and queued."""

from typing import Any

import structlog

from services.bridge.attachments import store
from services.bridge.attachments.usecases.give_up import PATIENCE, give_up
from services.bridge.attachments.usecases.queue_held import queue_held
from services.bridge.attachments.usecases.read_held import read_held
from services.bridge.inspection import Inspector
from services.bridge.timers import Loop
from services.bridge.usecases.inspect_item import inspect_item
from shared.bus import Received
from shared.db import Database
from shared.errors import Permanent, Refused
from shared.health import Health

log = structlog.get_logger()


class Gatherer:
    """A part of the service; woken by every submission with attachments, and by every attachment."""

    def __init__(self, db: Database, inspector: Inspector, health: Health) -> None:
        self._db, self._inspector = db, inspector
        self._loop = Loop("attachments", health, self._step)

    def wake(self) -> None:
        self._loop.wake()

    async def start(self) -> None:
        await self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()

    async def _step(self) -> float:
        while await self._next():
            pass
        async with self._db.transaction() as tx:
            await give_up(tx)
            age = await store.oldest(tx)
        return PATIENCE if age is None else max(PATIENCE + age, 1.0)

    async def _next(self) -> bool:
        async with self._db.reading() as tx:
            row = await store.next_complete(tx)
            files = await store.bytes_of(tx, row["submission_id"]) if row else {}
        if row is None:
            return False
        event = read_held(row)
        event.prepared = await inspect_item(self._db, self._inspector, event.data, files)
        try:
            async with self._db.transaction() as tx:
                await queue_held(tx, event, files)
        except (Permanent, Refused) as error:
            await self._park(event, error.message)
        return True

    async def _park(self, event: Received[Any], reason: str) -> None:
        """It can never be queued: kept for a person to look at, and the next one is taken."""
        log.warning("bridge.submission_parked", id=str(event.event_id), reason=reason)
        async with self._db.transaction() as tx:
            if await store.release(tx, event.data.submission_id):
                await store.clear(tx, event.data.submission_id)
                await tx.park(event, reason)
