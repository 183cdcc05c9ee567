"""Micro-batches: requests that come together share one transaction. None is answered before its signal is durable."""

import asyncio
import contextlib
from collections.abc import Callable
from uuid import UUID

from schemas.site.v1 import Signal
from services.site.signals.domain import MAX_EVENT_BYTES, MAX_PER_EVENT
from services.site.signals.store import ByAudience
from services.site.signals.usecases.record_signals import record_signals
from shared.db import Database
from shared.errors import Transient
from shared.tasks import spawn
from shared.telemetry import span

WAIT = 0.010
"""Seconds that the first signal of a batch waits for others."""


class SignalBuffer:
    """A part of the service. `voted` is told the new tallies after each batch with votes."""

    def __init__(self, db: Database, voted: Callable[[dict[UUID, ByAudience]], None]) -> None:
        self._db = db
        self._voted = voted
        self._waiting: list[tuple[Signal, str, asyncio.Future[None]]] = []
        self._bytes = 0
        self._some = asyncio.Event()
        self._full = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="signals")

    async def stop(self) -> None:
        self._stopping = True
        self._some.set()
        self._full.set()
        if self._task is not None:
            await self._task

    async def add(self, signal: Signal, audience: str) -> None:
        """Returns when the signal is durable; `audience` is its item's. Transient when the database is away: it was not counted."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((signal, audience, done))
        self._bytes += 400 + 4 * len(signal.text)
        self._some.set()
        if len(self._waiting) >= MAX_PER_EVENT or self._bytes >= MAX_EVENT_BYTES:
            self._full.set()
        await done

    async def _run(self) -> None:
        while not (self._stopping and not self._waiting):
            await self._some.wait()
            if not self._stopping:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), WAIT)
            await self._flush()

    async def _flush(self) -> None:
        batch, self._waiting = self._waiting[:MAX_PER_EVENT], self._waiting[MAX_PER_EVENT:]
        self._bytes = sum(400 + 4 * len(signal.text) for signal, _, _ in self._waiting)
        if not self._waiting:
            self._some.clear()
        if len(self._waiting) < MAX_PER_EVENT:
            self._full.clear()
        if batch:
            await self._write([(signal, audience) for signal, audience, _ in batch], [done for _, _, done in batch])

    async def _write(self, signals: list[tuple[Signal, str]], waiting: list[asyncio.Future[None]]) -> None:
        try:
            with span("signals"):
                async with self._db.transaction() as tx:
                    tallies = await record_signals(tx, signals)
        except Transient as error:
            _settle(waiting, error)
            return
        if tallies:
            self._voted(tallies)
        _settle(waiting, None)


def _settle(waiting: list[asyncio.Future[None]], error: Transient | None) -> None:
    """Answer those who are still there: a visitor may have gone."""
    for done in waiting:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
