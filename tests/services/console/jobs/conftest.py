"""A workplace with an app `vsg…` of runs and their notes, and cleanup jobs on it: use cases called on a real database."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.work import AppDeclaration, CleanupJob, Column, Condition, Table
from services.console.apps.domain import InstalledApp
from services.console.apps.usecases.create_plain import create_plain
from services.console.jobs import store
from services.console.jobs.domain import DryRun, Wanted
from services.console.jobs.keeper import JobKeeper
from services.console.jobs.usecases.add_job import Origin, add_job
from services.console.jobs.usecases.dry_run_job import dry_run_job
from services.console.jobs.usecases.restore_rows import restore_rows
from services.console.jobs.usecases.set_job import set_job
from services.console.keys.ring import KeyRing
from services.console.live import Live
from services.console.people.domain import Caller
from shared.clock import now
from shared.testing.servers import Servers
from tests.services.console.conftest import Desk

OWNER = Caller(str(uuid4()), "Mara Okonjo", "owner")
RUNS = Table(
    name="vsg_runs",
    columns=(Column(name="name", required=True), Column(name="started_at", type="instant"), Column(name="status"), Column(name="cost", type="decimal")),
)  # fmt: skip
NOTES = Table(name="notes", columns=(Column(name="run", type="integer", references="vsg_runs.id"), Column(name="text")))


@dataclass
class Workplace:
    desk: Desk
    app: InstalledApp
    keeper: JobKeeper
    ring: KeyRing

    def job(self, *more: Condition, **given: Any) -> CleanupJob:
        old = Condition(column="started_at", op="older_than", value="90")
        fields = {"name": "Old runs", "app": self.app.slug, "table": "vsg_runs", "conditions": (old, *more), "schedule": "every Sunday", "zone": "Pacific/Auckland"}  # fmt: skip
        return CleanupJob(**(fields | given))

    async def add_run(self, name: str, hours_past_90_days: float | None, status: str = "done") -> int:
        """Its number; None: a run without a date."""
        at = None if hours_past_90_days is None else now() - timedelta(days=90, hours=hours_past_90_days)
        async with self.desk.db.transaction() as tx:
            insert = f'INSERT INTO "{self.app.schema_name}".vsg_runs (name, started_at, status, cost) VALUES ($1, $2, $3, 1.50) RETURNING id'
            return int(await tx.raw.fetchval(insert, name, at, status))

    async def names(self) -> set[str]:
        return {row["name"] for row in await self.desk.rows(f'SELECT name FROM "{self.app.schema_name}".vsg_runs')}

    async def make(self, job: CleanupJob) -> UUID:
        async with self.desk.db.transaction() as tx:
            return await add_job(tx, job, Origin(OWNER.id, OWNER.name, OWNER.name), now())

    async def dry_run(self, job_id: UUID) -> DryRun:
        async with self.desk.db.transaction() as tx:
            return await dry_run_job(tx, await store.one(tx, job_id), OWNER.name)

    async def switch(self, job_id: UUID, setting: str = "on") -> None:
        async with self.desk.db.transaction() as tx:
            await set_job(tx, self.desk.key, OWNER, Wanted(job_id, setting))

    async def switched_on(self, job: CleanupJob) -> UUID:
        job_id = await self.make(job)
        await self.dry_run(job_id)
        await self.switch(job_id)
        return job_id

    async def run(self, job_id: UUID) -> dict[str, Any]:
        """The run's row, when it has ended."""
        run_id = await self.keeper.run_now(OWNER, job_id)
        await self.keeper.idle()
        return await self.run_row(run_id)

    async def run_row(self, run_id: UUID) -> dict[str, Any]:
        return dict((await self.desk.rows("SELECT * FROM app.job_runs WHERE run_id = $1", run_id))[0])

    async def state(self, job_id: UUID) -> str:
        return str((await self.desk.rows("SELECT state FROM app.jobs WHERE job_id = $1", job_id))[0]["state"])

    async def restore(self, run_id: UUID) -> tuple[int, int]:
        async with self.desk.db.transaction() as tx:
            found = await restore_rows(tx, OWNER, run_id)
        return found.rows, found.left


@pytest.fixture
async def workplace(desk: Desk, servers: Servers) -> AsyncIterator[Workplace]:
    declaration = AppDeclaration(slug=f"vsg-{uuid4().hex[:10]}", title="VSG", kind="application", tables=(RUNS, NOTES))
    async with desk.db.transaction() as tx:
        app = await create_plain(tx, declaration, OWNER, desk.key)
    ring = KeyRing(servers.settings("console").keys)
    keeper = JobKeeper(desk.db, ring, Live())
    yield Workplace(desk, app, keeper, ring)
    await keeper.stop()
