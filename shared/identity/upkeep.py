"""Once a minute: sessions, codes and used tokens that are over go."""

import asyncio

from shared.clock import now
from shared.db import Database
from shared.errors import Transient
from shared.identity import store
from shared.tasks import cancel, spawn

EVERY = 60.0


class IdentityUpkeep:
    """A part of the service. What is over counts no more before it is deleted, so a late look is no harm."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.clean()
        self._task = spawn(self._run(), name="identity upkeep")

    async def stop(self) -> None:
        await cancel(self._task)

    async def clean(self) -> None:
        async with self._db.transaction() as tx:
            await store.clean(tx, now())

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self.clean()
            except Transient:
                continue  # the database's absence shows in the service's health
