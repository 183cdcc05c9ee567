"""Open streams of signed-in people, ended within a second of their session, whichever instance heard of its end (S8)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from shared.clock import now
from shared.db import Database
from shared.errors import Transient
from shared.identity import store
from shared.identity.sessions import is_fresh
from shared.identity.store import Found
from shared.tasks import cancel, spawn

EVERY = 0.4
"""Seconds between two looks at the sessions of all open streams, one statement each."""


@dataclass(eq=False)
class Stream:
    """`over` is set when it must end: signed out, another role, due for renewal, or the service stops."""

    found: Found
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Streams:
    """A part of the service; `close` is for the moment when its HTTP server begins to stop."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open: set[Stream] = set()
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="streams")

    async def stop(self) -> None:
        await cancel(self._task)

    @asynccontextmanager
    async def open(self, found: Found) -> AsyncIterator[Stream]:
        """A stream of this session, for as long as the block runs."""
        stream = Stream(found)
        self._open.add(stream)
        if self._closed:
            stream.over.set()
        try:
            yield stream
        finally:
            self._open.discard(stream)

    def close(self) -> None:
        """End them all."""
        self._closed = True
        for stream in self._open:
            stream.over.set()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if self._open:
                await self._look()

    async def _look(self) -> None:
        """When the database is away nobody can vouch for a session: then streams end, too."""
        streams = list(self._open)
        try:
            async with self._db.reading() as tx:
                good = await store.find(tx, [each.found.token_hash for each in streams], now())
        except Transient:
            good = {}
        for stream in streams:
            present = good.get(stream.found.token_hash)
            if present is None or present.role != stream.found.role or not is_fresh(present):
                stream.over.set()
