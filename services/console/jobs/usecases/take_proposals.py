"""The agent's proposals of jobs: each becomes a job that nobody has switched on, with its dry run, and the agent is told what that found."""

from services.console.jobs import store
from services.console.jobs.domain import Row, coming, read_job, timetable
from services.console.jobs.usecases.add_job import Origin, add_job
from services.console.jobs.usecases.dry_run_job import dry_run_job
from services.console.proposals.domain import NO_FIGURES, Figures, read_proposed_job
from services.console.proposals.usecases.answer_proposal import answer_proposal
from shared.clock import now
from shared.db import Tx
from shared.errors import SchleuseError


async def take_proposals(tx: Tx, most: int) -> int:
    """How many there were. One that cannot be a job is answered with the reason."""
    found = await store.orphans(tx, most)
    for row in found:
        await _take(tx, row)
    return len(found)


async def _take(tx: Tx, row: Row) -> None:
    at, proposal_id = now(), row["proposal_id"]
    try:
        async with tx.savepoint():
            origin = Origin(row["owner_id"], row["owner_name"], "agent", proposal_id)
            await add_job(tx, read_proposed_job(row["body"]), origin, at)
    except SchleuseError as error:
        await answer_proposal(tx, proposal_id, "failed", reason=error.message)
        return
    job = await store.one(tx, proposal_id)
    assert job is not None, "it was added just now"
    found = await dry_run_job(tx, job, "the console")
    await answer_proposal(tx, proposal_id, "waiting", reason=found.error, figures=await figures_of(tx, job))


async def figures_of(tx: Tx, job: Row) -> Figures:
    """What its newest dry run found, and its next runs as if it were switched on now."""
    dry_run, at = await store.dry_run(tx, job["job_id"]), now()
    if dry_run is None:
        return NO_FIGURES
    wanted = read_job(job["job"])
    words = timetable(wanted, at)
    understood = f"{words.words} ({words.zone})"[:300]
    return Figures(dry_run["rows"], dry_run["bytes"], dry_run["undated"], understood, coming(wanted, at, at))
