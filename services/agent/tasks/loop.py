"""The one loop that fires all tasks, wherever the lease is (rule 9). Nothing waits for an owner to come back: what was missed is decided as soon as it runs."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta

import structlog

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import Runner
from services.agent.tasks.firing import BATCH, Fired, fire_due
from services.agent.tasks.kept import KeptRuns
from services.agent.tasks.leasing.lease import TaskLease
from shared.db import Database
from shared.errors import Conflict, Refused, SchleuseError, Transient
from shared.tasks import cancel, spawn

log = structlog.get_logger()
LOOK_EVERY = 1.0
"""Seconds: the clock may be set, and a word from another instance may be lost."""
SHORTEST = 0.005
"""Seconds, also when something is due that somebody holds at this moment."""
SWEEP_EVERY = 2.0
SILENT = 10.0
"""Seconds after which a process that says nothing is taken for dead; its runs are not run again by themselves."""
DIED = "Its process ended while it ran, and nobody knows how far it came. It is not run again by itself."
OnFired = Callable[[Owner], None]


class TaskLoop:
    """A part, started after the lease. `on_fired(owner)` is called after the commit that fired something of theirs, once a batch."""

    def __init__(self, db: Database, lease: TaskLease, runs: KeptRuns, worker: str, part: str) -> None:
        self._db, self._lease, self._runs, self._worker, self._part = db, lease, runs, worker, part
        self.on_fired: list[OnFired] = []
        self.runner: Runner | None = None
        self.fired = 0
        self.late, self.late_s = 0, 0.0
        self._woken = asyncio.Event()
        self._swept = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._beginning: set[asyncio.Task[None]] = set()

    def wake(self) -> None:
        """Something may be due sooner."""
        self._woken.set()

    async def start(self) -> None:
        self._task = spawn(self._run(), "tasks")

    async def stop(self) -> None:
        await cancel(self._task)
        for each in list(self._beginning):
            await cancel(each)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            wait = LOOK_EVERY
            fence = self._lease.fence
            if fence is not None:
                try:
                    wait = await self._round(fence)
                except Conflict:
                    self._lease.lost()
                    self._lease.nudge()
                except Transient as error:
                    log.warning("tasks.wait", error=error.message)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()

    async def _round(self, fence: int) -> float:
        """All that is due, in batches; seconds until something is due again, at most LOOK_EVERY."""
        if _clock() - self._swept >= SWEEP_EVERY:
            await self._sweep()
            self._swept = _clock()
        due, fired = await fire_due(self._db, fence, self._worker)
        self._tell(fired)
        if due == BATCH and fired:
            return 0.0
        async with self._db.reading() as tx:
            at, moment = await store.next_due(tx)
        return LOOK_EVERY if at is None else min(LOOK_EVERY, max((at - moment) / timedelta(seconds=1), SHORTEST))

    def _tell(self, fired: Sequence[Fired]) -> None:
        self.fired += len(fired)
        for owner in {each.owner for each in fired if each.kind == "reminder"}:
            for hear in self.on_fired:
                hear(owner)
        for each in fired:
            if each.kind == "automation":
                task = spawn(self._begin(each), f"automation {each.task_id}")
                self._beginning.add(task)
                task.add_done_callback(self._beginning.discard)

    async def _begin(self, fired: Fired) -> None:
        """Whatever it says of why it could not is kept with the run."""
        try:
            found = await self._runs.find(fired.owner, fired.task_id, fired.nominal_at)
            if found is None:
                return
            if self.runner is None:
                raise Refused("Nothing here runs automations.")
            await self.runner.begin(fired.owner, *found)
        except SchleuseError as error:
            log.warning("automation.not_begun", task=str(fired.task_id), error=error.message)
            await self._failed(fired, error.message)

    async def _failed(self, fired: Fired, why: str) -> None:
        """As soon as the database takes it: nobody else ends what this process has begun."""
        while True:
            try:
                await self._runs.ended(fired.owner, fired.task_id, fired.nominal_at, "failed", error=why)
            except Transient:
                await asyncio.sleep(LOOK_EVERY)
            else:
                return

    async def _sweep(self) -> None:
        """Runs of dead processes end; and how far behind this loop is."""
        async with self._db.reading() as tx:
            dead = await store.dead_runs(tx, self._worker, self._part, SILENT)
            self.late, self.late_s = await store.late(tx)
        for owner, task_id, nominal_at in dead:
            await self._runs.ended(owner, task_id, nominal_at, "interrupted", error=DIED)
            log.info("task_run.interrupted", task=str(task_id))


def _clock() -> float:
    return asyncio.get_running_loop().time()
