"""Reads what freshly approved code declares, and runs apps' jobs at their times. Every instance has one; the database says who runs what."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import ClassVar
from uuid import UUID

import structlog

from services.console.apps import store
from services.console.apps.jobs import store as job_store
from services.console.apps.process import clean
from services.console.apps.processes import FOREIGN, Processes
from services.console.apps.usecases.describe_app import describe_app
from services.console.apps.usecases.set_job import start_due
from services.console.apps.views import Catalogue, find_app
from services.console.live import Live
from services.console.rounds import Rounds
from shared.clock import now
from shared.db import Database
from shared.errors import Refused, Transient
from shared.tasks import cancel, spawn

log = structlog.get_logger()
SIGN_OF_LIFE, LOST_AFTER = 30.0, timedelta(minutes=2)
AT_ONCE = 2
"""Jobs that one instance runs at a time."""


class AppKeeper(Rounds):
    name: ClassVar[str] = "apps"

    def __init__(self, db: Database, processes: Processes, catalogue: Catalogue, live: Live) -> None:
        super().__init__()
        self._db, self.processes, self._catalogue, self._live = db, processes, catalogue, live
        self._runs: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(AT_ONCE)
        catalogue.listen(lambda _: self.wake())

    async def stop(self) -> None:
        await super().stop()
        for each in list(self._runs):
            await cancel(each)

    async def round(self) -> None:
        async with self._db.reading() as tx:
            fresh = await store.undescribed(tx)
        for slug in fresh:
            with suppress(Transient):  # nobody runs apps here just now: the next round tries again
                await self.describe(slug)
        await self._start_jobs()

    async def describe(self, slug: str) -> None:
        """Once for each version: what its code declares is there afterwards, or the app is broken and says why."""
        async with self._db.reading() as tx:
            app = await find_app(tx, slug)
        if app is None or app.state != "installed" or app.described_version == app.version:
            return
        try:
            said = await self.processes.describe(app)
            async with self._db.transaction() as tx:
                await describe_app(tx, app, said, self._catalogue.on_changed)
        except (Refused, *FOREIGN) as fault:
            said_so = fault.message if isinstance(fault, Refused) else f"what it declares cannot be used: {fault}"
            async with self._db.transaction() as tx:
                await store.put_broken(tx, slug, app.version, clean(said_so))
        self._live.tell(event="cards")

    def run(self, run_id: UUID, slug: str, name: str) -> None:
        """A run that is written down already; it goes on by itself (rule 31)."""
        task = spawn(self._carry_out(run_id, slug, name), f"job of {slug}")
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    async def idle(self) -> None:
        """Until what runs now has ended."""
        await asyncio.gather(*self._runs)

    async def _start_jobs(self) -> None:
        async with self._db.transaction() as tx:
            await job_store.end_lost(tx, now() - LOST_AFTER, now())
        while not self._room.locked():
            async with self._db.transaction() as tx:
                found = await start_due(tx)
            if found is None:
                return
            if found[0] is not None:
                self.run(found[0], found[1], found[2])

    async def _carry_out(self, run_id: UUID, slug: str, name: str) -> None:
        living = spawn(self._say_alive(run_id), "job's sign of life")
        try:
            async with self._room:
                state, output, error = await self._job(slug, name)
        finally:
            await cancel(living)
        with suppress(Transient):  # then it is a run that was lost, and says so
            async with self._db.transaction() as tx:
                await job_store.end(tx, run_id, state, output, error, now())
        log.info("apps.job_ended", app=slug, job=name, state=state)
        self.wake()

    async def _job(self, slug: str, name: str) -> tuple[str, str, str]:
        async with self._db.reading() as tx:
            app = await find_app(tx, slug)
        if app is None or app.state != "installed":
            return "failed", "", "the app is not in service"
        return await self.processes.job(app, name)

    async def _say_alive(self, run_id: UUID) -> None:
        while True:
            await asyncio.sleep(SIGN_OF_LIFE)
            with suppress(Transient):
                async with self._db.transaction() as tx:
                    await job_store.seen(tx, run_id, now())
