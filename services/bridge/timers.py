"""The lock's own loops: answer the site's questions, seal the head every hour, publish what is due and take down what is over.

Each waits for its event or its time; none polls. Times are elapsed time, so a clock that steps back delays nothing but
what is scheduled by that clock.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from services.bridge import views
from services.bridge.gate import Gate
from services.bridge.usecases.answer_gate_request import answer_gate_request
from services.bridge.usecases.expire_due import expire_due
from services.bridge.usecases.publish_due import publish_due
from services.bridge.usecases.seal_head import seal_head
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError
from shared.health import Health
from shared.tasks import spawn

log = structlog.get_logger()

HEARTBEAT = 3600.0
"""Seconds between two sealed heads: the site stops rendering when the newest is older than 24 h (S6)."""
AGAIN = 5.0
"""Seconds until a step that failed (or that had to wait) is tried again."""
LONGEST = 3600.0


class Loop:
    """Runs `step` at start, when woken, and when the seconds that it returned are over. A failed step is tried again."""

    def __init__(self, name: str, health: Health, step: Callable[[], Awaitable[float]]) -> None:
        self._name, self._health, self._step = name, health, step
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def wake(self) -> None:
        self._woken.set()

    async def start(self) -> None:
        self._task = spawn(self._run(), self._name)

    async def stop(self) -> None:
        """The step in hand is finished."""
        self._stopping = True
        self.wake()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while not self._stopping:
            self._woken.clear()
            try:
                wait = await self._step()
                self._health.set(self._name, True, "")
            except SchleuseError as error:
                log.warning("bridge.step_failed", loop=self._name, error=error.message)
                self._health.set(self._name, False, error.message[:200])
                wait = AGAIN
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return


class Timers:
    """The three loops as one part of the service."""

    def __init__(self, db: Database, gate: Gate, health: Health) -> None:
        self._db, self._gate = db, gate
        self.answerer = Loop("gate_answers", health, self._answer)
        self.heartbeat = Loop("gate_heartbeat", health, self._seal)
        self.schedule = Loop("schedule", health, self._look_at_the_clock)
        self._loops = (self.answerer, self.heartbeat, self.schedule)

    async def start(self) -> None:
        for loop in self._loops:
            await loop.start()

    async def stop(self) -> None:
        for loop in self._loops:
            await loop.stop()

    async def _answer(self) -> float:
        while True:
            async with self._db.transaction() as tx:
                if not await answer_gate_request(tx, self._gate):
                    return LONGEST

    async def _seal(self) -> float:
        async with self._db.transaction() as tx:
            await seal_head(tx, self._gate)
        return HEARTBEAT

    async def _look_at_the_clock(self) -> float:
        """What is over goes before what comes: a time that passed while nothing ran is made up for in that order."""
        at = now()
        async with self._db.reading() as tx:
            over, waiting = await views.over(tx, at), await views.due(tx, at)
        for item_id in over:
            async with self._db.transaction() as tx:
                await expire_due(tx, item_id, at)
        frozen = False
        for item_id, revision in waiting:
            async with self._db.transaction() as tx:
                frozen = not await publish_due(tx, item_id, revision, self._gate, at) or frozen
        async with self._db.reading() as tx:
            following = await views.next_due(tx, at if frozen else None)
        return LONGEST if following is None else _seconds(following - now())


def _seconds(ahead: timedelta) -> float:
    return min(max(ahead.total_seconds(), 0.0), LONGEST)
