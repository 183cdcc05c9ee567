"""Looks once an hour whether a secret's time runs out."""

import asyncio

from services.console.live import Live
from services.console.secrets.usecases.warn_of_expiry import warn_of_expiry
from shared.clock import now
from shared.db import Database
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 3600.0
AGAIN = 30.0
"""Seconds."""


class ExpiryWatch:
    """A part of the console. In a cluster both instances look; each warning is written once."""

    def __init__(self, db: Database, live: Live) -> None:
        self._db, self._live = db, live
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), "secrets-expiry")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            wait = EVERY if await self._look() else AGAIN
            await asyncio.sleep(wait)

    async def _look(self) -> bool:
        try:
            async with self._db.transaction() as tx:
                told = await warn_of_expiry(tx, now())
        except Transient:
            return False
        for each in told:
            self._live.tell(event="notice", persons=[each.person_id], text=each.text, place=each.place)
        return True
