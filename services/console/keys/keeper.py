"""Takes the next step with the keys whenever the lock has answered, and at start whatever a crash left undone."""

import asyncio

import structlog

from services.console.keys.ring import KeyRing
from services.console.keys.usecases.finish_rotation import finish_rotation
from services.console.keys.usecases.open_ring import open_ring
from services.console.live import Live
from shared.db import Database
from shared.errors import Transient
from shared.health import Health
from shared.tasks import cancel, spawn

log = structlog.get_logger()
AGAIN = 5.0
"""Seconds until a step that could not be taken is tried again."""


class KeyKeeper:
    """A part of the console. `wake` it after a commit that holds an answer of the lock."""

    def __init__(self, db: Database, ring: KeyRing, live: Live, health: Health) -> None:
        self._db, self._ring, self._live, self._health = db, ring, live, health
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._woken.set()

    async def start(self) -> None:
        """Before the bus and the pages: there is a key that signs."""
        async with self._db.transaction() as tx:
            await open_ring(tx, self._ring)
        self._woken.set()
        self._task = spawn(self._run(), "keys")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._step()
                self._health.set("keys", True)
            except Transient as error:
                log.warning("console.keys", error=error.message)
                self._health.set("keys", False, error.message[:200])
                await asyncio.sleep(AGAIN)
                self._woken.set()

    async def _step(self) -> None:
        async with self._db.transaction() as tx:
            dead = await finish_rotation(tx, self._ring)
        for key_id in dead:
            self._ring.delete(key_id)
        self._live.tell(event="keys")
