"""Makes the agent's proposals into jobs, starts what is due, carries runs out, and empties the trash. Every instance has one; the database says who runs what."""

import asyncio
from contextlib import suppress
from datetime import datetime
from uuid import UUID

import asyncpg
import structlog

from services.console.jobs import store
from services.console.jobs.domain import RUN_FOR, RunState
from services.console.jobs.usecases.end_run import end_lost_runs, end_run
from services.console.jobs.usecases.prune_trash import prune_trash
from services.console.jobs.usecases.run_batch import count_run, run_batch
from services.console.jobs.usecases.start_run import Started, start_due, start_now
from services.console.jobs.usecases.stop_job import stop_job
from services.console.jobs.usecases.take_proposals import take_proposals
from services.console.keys.ring import KeyRing
from services.console.live import Live
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Database
from shared.errors import Conflict, NotFound, Permanent, Refused, SchleuseError, Transient
from shared.ids import new_token
from shared.tasks import cancel, spawn

log = structlog.get_logger()
LOOK_EVERY = 30.0
"""Seconds at most between two looks: another instance may have switched a job on."""
AT_ONCE, TRASH_AT_ONCE = 20, 5000
RESTORED = "A backup was restored; what was decided about this job since is not known. Make a dry run and switch it on again if it is still wanted."
BUSY = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, asyncpg.ForeignKeyViolationError)
"""Somebody works with these rows: they go at the next run."""


class JobKeeper:
    """A part of the console. `wake` after the commit of whatever may have something for it."""

    def __init__(self, db: Database, ring: KeyRing, live: Live, restored_at: datetime | None = None) -> None:
        self._db, self._ring, self._live = db, ring, live
        self._holder, self._restored_at = new_token()[:16], restored_at
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._runs: set[asyncio.Task[None]] = set()
        self.running = 0

    def wake(self) -> None:
        self._news.set()

    async def start(self) -> None:
        self._news.set()
        self._task = spawn(self._look(), "cleanup jobs")

    async def stop(self) -> None:
        """A run that is cut short goes on at the job's next time."""
        await cancel(self._task)
        for each in list(self._runs):
            await cancel(each)

    async def run_now(self, caller: Caller, job_id: UUID) -> UUID:
        """The run's id; it goes on by itself (rule 31)."""
        async with self._db.transaction() as tx:
            run = await start_now(tx, self._ring, caller, job_id, self._holder, now())
        assert run.run_id is not None, "started just now"
        task = spawn(self._carry_out(run), "cleanup run")
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)
        return run.run_id

    async def idle(self) -> None:
        """Until what was started by hand has ended."""
        await asyncio.gather(*self._runs)

    async def look_once(self) -> None:
        """All that is due now, without waiting for the next look."""
        await self._round()

    async def _look(self) -> None:
        while True:
            self._news.clear()
            pause = LOOK_EVERY
            with suppress(Transient):  # the database's absence shows in the service's health
                pause = await self._round()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()

    async def _round(self) -> float:
        """All that is to be done now; the seconds until something is."""
        await self._stop_restored()
        await self._take_proposals()
        while (run := await self._start_due()) is not None:
            if run.run_id is not None:
                await self._carry_out(run)
        async with self._db.transaction() as tx:
            await end_lost_runs(tx)
            emptied = await prune_trash(tx, TRASH_AT_ONCE)
            next_at = await store.next_due(tx)
        if emptied == TRASH_AT_ONCE:
            return 0.0
        return LOOK_EVERY if next_at is None else min(max((next_at - now()).total_seconds(), 0.05), LOOK_EVERY)

    async def _stop_restored(self) -> None:
        """What people switched off since the backup is not known: whatever it says was on waits for a person."""
        if self._restored_at is None:
            return
        async with self._db.transaction() as tx:
            for job in await store.on_since_before(tx, self._restored_at):
                await stop_job(tx, job, RESTORED)
        self._restored_at = None

    async def _take_proposals(self) -> None:
        taken = AT_ONCE
        while taken == AT_ONCE:
            async with self._db.transaction() as tx:
                taken = await take_proposals(tx, AT_ONCE)
                if taken:
                    tx.after_commit(self._tell)

    async def _start_due(self) -> Started | None:
        async with self._db.transaction() as tx:
            run = await start_due(tx, self._ring, self._holder, now())
            if run is not None:
                tx.after_commit(self._tell)
            return run

    async def _carry_out(self, run: Started) -> None:
        """Batches until none is left, or the time is over; then what became of it is written down."""
        self.running += 1
        try:
            state, error = await self._batches(run)
        finally:
            self.running -= 1
        async with self._db.transaction() as tx:
            await end_run(tx, run, self._holder, state, error)
            tx.after_commit(self._tell)
        log.info("jobs.run_ended", run=str(run.run_id), job=str(run.job["job_id"]), state=state)

    async def _batches(self, run: Started) -> tuple[RunState, str]:
        loop = asyncio.get_running_loop()
        until = loop.time() + RUN_FOR.total_seconds()
        try:
            async with self._db.transaction() as tx:
                await count_run(tx, run)
            while loop.time() < until:
                async with self._db.transaction() as tx:
                    if not await run_batch(tx, run, self._holder):
                        return "done", ""
        except BUSY as busy:
            return "partly", f"rows are in use: {busy}"
        except (Refused, NotFound, Permanent) as fault:
            return "stopped", fault.message
        except (Conflict, SchleuseError) as fault:
            return "failed", fault.message
        except asyncpg.PostgresError as fault:
            return "failed", f"the database did not take it: {fault}"
        return "partly", ""

    def _tell(self) -> None:
        self._live.tell(event="job", item_id="jobs")
