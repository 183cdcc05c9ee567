"""Open streams of programs, ended within a second of their key, whichever instance heard of its end (S8)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.agent.owners.access import AccessKeys, Key
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 0.4
"""Seconds between two looks at the keys of all open streams, one statement each."""


class KeyWatch:
    """A part of the service; `close` is for the moment when its HTTP server begins to stop."""

    def __init__(self, access: AccessKeys) -> None:
        self._access = access
        self._open: dict[asyncio.Event, Key] = {}
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="key watch")

    async def stop(self) -> None:
        await cancel(self._task)

    @asynccontextmanager
    async def open(self, key: Key) -> AsyncIterator[asyncio.Event]:
        """Set when the key is over, or its person may do less."""
        over = asyncio.Event()
        self._open[over] = key
        if self._closed:
            over.set()
        try:
            yield over
        finally:
            self._open.pop(over, None)

    def close(self) -> None:
        """End them all."""
        self._closed = True
        for over in self._open:
            over.set()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if self._open:
                await self._look()

    async def _look(self) -> None:
        """When the database is away nobody can vouch for a key: then streams end, too."""
        watched = dict(self._open)
        try:
            good = await self._access.good([key.token_hash for key in watched.values()])
        except Transient:
            good = {}
        for over, key in watched.items():
            present = good.get(key.token_hash)
            if present is None or present.role != key.role:
                over.set()
