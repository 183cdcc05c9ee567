"""Ends open streams whose sign-in is over, whoever ended it: another process, the operator, or time (S8)."""

import asyncio

from services.console.live import Live
from services.console.people.views import alive
from shared.clock import now
from shared.db import Database
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 0.4
"""Seconds between two looks: signing out closes streams within one."""


class SessionWatch:
    """A part of the console. One small question for all streams of this process; none while there is no stream."""

    def __init__(self, db: Database, live: Live) -> None:
        self._db, self._live = db, live
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), "sessions")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if watched := self._live.sessions():
                await self._look(watched)

    async def _look(self, watched: frozenset[str]) -> None:
        try:
            async with self._db.reading() as tx:
                left = await alive(tx, watched, now())
        except Transient:
            return  # nobody knows now; the pages themselves say that the database is away
        for each in watched - left:
            self._live.end(session=each)
