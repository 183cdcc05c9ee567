"""A cleanup job is written down. It does nothing before a person has seen its dry run and switched it on."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.work import CleanupJob
from services.console.jobs import store
from services.console.jobs.domain import job_text, timetable
from services.console.jobs.rows.domain import check_conditions
from services.console.jobs.usecases.complete_job import complete_job
from services.console.jobs.usecases.find_target import check_held, find_target
from shared.db import Tx
from shared.errors import Conflict
from shared.ids import new_id


@dataclass(frozen=True)
class Origin:
    """Whose job it is, who wrote it down, and out of which proposal of the agent, whose id it has then."""

    owner_id: str
    owner_name: str
    made_by: str
    proposal_id: UUID | None = None


async def add_job(tx: Tx, job: CleanupJob, origin: Origin, at: datetime) -> UUID:
    """Its id. Refused or NotFound, in words, for what cannot be meant: a protected table, a column that there is not, times that are not understood."""
    job = await complete_job(tx, job)
    target = await find_target(tx, job.app, job.table)
    check_conditions(job, target)
    await check_held(tx, target)
    timetable(job, at)
    kept = {
        "job": job_text(job), "job_hash": job.hash, "app_slug": job.app, "table_name": job.table, "name": job.name,
        "proposal_id": origin.proposal_id, "owner_id": origin.owner_id, "owner_name": origin.owner_name, "made_by": origin.made_by, "made_at": at,
    }  # fmt: skip
    job_id = origin.proposal_id or new_id()
    if not await store.add(tx, job_id, kept):
        raise Conflict("This job is there already.", code="exists")
    return job_id
