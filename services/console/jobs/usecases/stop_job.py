"""The console itself takes a job out of service: it comes no more until a person switches it on again, and people are told."""

from services.console.jobs import store
from services.console.jobs.domain import Row
from services.console.notices import store as notices
from services.console.notices.domain import Notice
from services.console.proposals import store as proposals
from services.console.proposals.usecases.answer_proposal import answer_proposal
from shared.clock import now
from shared.db import Tx


async def stop_job(tx: Tx, job: Row, why: str) -> None:
    await store.set_state(tx, job["job_id"], "stopped", why)
    await tell(tx, job, f"The cleanup job “{job['name']}” was stopped: {why}")
    proposal = await proposals.one(tx, job["proposal_id"]) if job["proposal_id"] is not None else None
    if proposal is not None and proposal["state"] == "accepted":
        await answer_proposal(tx, proposal["proposal_id"], "ended", reason=why)


async def tell(tx: Tx, job: Row, text: str) -> None:
    """Owners and admins."""
    told = [Notice(each, "schedule", text[:500], f"/jobs/{job['job_id']}") for each in await proposals.deciders(tx)]
    if told:
        await notices.add(tx, told, now())
