"""A person switches a job on or off. Signed over the job's hash and over what its dry run found (S15)."""

from dataclasses import dataclass
from datetime import datetime

from schemas.text import canonical
from schemas.work import JobSetting
from services.console.jobs import store
from services.console.jobs.domain import Row, Setting, Wanted, check_dry_run, check_setting, next_time, read_job
from services.console.jobs.usecases.find_target import check_held, find_target
from services.console.jobs.usecases.take_proposals import figures_of
from services.console.people.domain import Caller
from services.console.proposals import store as proposals
from services.console.proposals.domain import State
from services.console.proposals.usecases.answer_proposal import answer_proposal
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused
from shared.signing import SigningKey


async def set_job(tx: Tx, key: SigningKey, caller: Caller, wanted: Wanted) -> None:
    """NotFound, Forbidden, Refused, or Conflict when it is not as it was shown. Who asked the agent for it is told."""
    job, at = await store.one(tx, wanted.job_id, lock=True), now()
    setting, reason = check_setting(caller, job, wanted)
    assert job is not None, "checked"
    rows, next_at = None, None
    if setting == "on":
        rows = check_dry_run(await store.dry_run(tx, wanted.job_id, wanted.dry_run_id), job["job_hash"], at)
        parsed = read_job(job["job"])
        if parsed.hash != job["job_hash"]:
            raise Refused("What is kept of this job is not what its hash says. It was not switched on.", code="changed")
        await check_held(tx, await find_target(tx, parsed.app, parsed.table))
        next_at = next_time(parsed, at, at)
    await _sign(tx, key, caller, job, Word(setting, reason, rows, at, next_at))
    await _answer(tx, job, setting, reason, caller)


@dataclass(frozen=True)
class Word:
    """What is signed. `rows`: of the dry run; None when it is switched off."""

    setting: Setting
    reason: str
    rows: int | None
    at: datetime
    next_at: datetime | None


async def _sign(tx: Tx, key: SigningKey, caller: Caller, job: Row, word: Word) -> None:
    opening, version = make_opening(caller, word.reason), job["version"] + 1
    statement = JobSetting(
        key_id=key.key_id, job_id=job["job_id"], job_hash=job["job_hash"], setting=word.setting, dry_run_rows=word.rows,
        decided_at=word.at, decider=opening.commitment, prior_version=job["version"],
    )  # fmt: skip
    signed = key.sign(statement)
    exact = (signed.payload, signed.signature, signed.key_id, canonical(opening.model_dump(mode="json")))
    who = (caller.id, caller.name, caller.via, word.reason, word.at, version)
    await store.put_setting(tx, (signed.hash, job["job_id"], word.setting, *exact, *who), word.setting, word.next_at)


async def _answer(tx: Tx, job: Row, setting: Setting, reason: str, caller: Caller) -> None:
    if job["proposal_id"] is None:
        return
    row = await proposals.one(tx, job["proposal_id"])
    if row is None:
        return
    if setting == "on":
        await answer_proposal(tx, job["proposal_id"], "accepted", reason=reason, figures=await figures_of(tx, job), by=caller)  # fmt: skip
    else:
        state: State = "refused" if row["state"] == "waiting" else "ended"
        await answer_proposal(tx, job["proposal_id"], state, reason=reason, by=caller)
