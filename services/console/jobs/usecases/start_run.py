"""A job's time has come, or a person wants it now. What was signed is read anew: only exactly that runs (S15)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.statements import Signed
from schemas.work import CleanupJob, JobSetting
from services.console.jobs import store
from services.console.jobs.domain import CATCH_UP, Row, missed_times, next_time, read_job
from services.console.jobs.usecases.stop_job import stop_job
from services.console.keys.ring import KeyRing
from services.console.people.domain import Caller
from shared.db import Tx
from shared.errors import BadSignature, NotFound, Refused, SchleuseError, Transient
from shared.ids import new_id
from shared.signing import PublicKeys

PUNCTUAL = timedelta(minutes=2)
MISSED = "missed: the console did not run then"


@dataclass(frozen=True)
class Started:
    """A run of which this process is the holder. `at`: its start, from which ages are counted. `run_id` None: nothing is to be run now, but look again."""

    run_id: UUID | None
    job: Row
    wanted: CleanupJob | None = None
    statement: JobSetting | None = None
    at: datetime | None = None


async def start_due(tx: Tx, ring: KeyRing, holder: str, present: datetime) -> Started | None:
    """None: nothing is due. One run for each time of a job, whoever believes what (rule 9); the latest miss is caught up if it is younger than 24 h (rule 8)."""
    job = await store.due(tx, present)
    if job is None:
        return None
    try:
        wanted, statement = await read_signed(tx, ring, job)
    except (Refused, BadSignature) as fault:
        await stop_job(tx, job, fault.message)
        return Started(None, job)
    times = missed_times(wanted, statement.decided_at, job["next_at"], present)
    for each in times[:-1]:
        await store.add_run(tx, new_id(), job, each, "scheduled", "missed", None, present, "", "", MISSED)
    await _go_on(tx, job, wanted, statement, present)
    if not times:
        return Started(None, job)
    return await _start(tx, job, wanted, statement, times[-1], holder, present)


async def _start(tx: Tx, job: Row, wanted: CleanupJob, statement: JobSetting, nominal: datetime, holder: str, present: datetime) -> Started:  # fmt: skip
    if present - nominal >= CATCH_UP:
        why = f"{MISSED}, and that was more than 24 h ago"
        await store.add_run(tx, new_id(), job, nominal, "scheduled", "missed", None, present, "", "", why)
        return Started(None, job)
    how, run_id = "late" if present - nominal > PUNCTUAL else "scheduled", new_id()
    if not await store.add_run(tx, run_id, job, nominal, how, "running", present, None, holder, "the console"):
        return Started(None, job)
    return Started(run_id, job, wanted, statement, present)


async def start_now(tx: Tx, ring: KeyRing, caller: Caller, job_id: UUID, holder: str, present: datetime) -> Started:
    """A person wants it now. NotFound, Forbidden; Refused for one that is not switched on: whatever runs has been signed for."""
    caller.require("connectors")
    job = await store.one(tx, job_id, lock=True)
    if job is None:
        raise NotFound("There is no such job; `schleuse jobs list` shows them.", code="job")
    if job["state"] != "on":
        raise Refused(f"This job is {job['state']}. Switch it on first: a run deletes what somebody has signed for.", code="off")  # fmt: skip
    wanted, statement = await read_signed(tx, ring, job)
    run_id = new_id()
    await store.add_run(tx, run_id, job, present, "by hand", "running", present, None, holder, caller.name)
    return Started(run_id, job, wanted, statement, present)


async def read_signed(tx: Tx, ring: KeyRing, job: Row) -> tuple[CleanupJob, JobSetting]:
    """The job and the person's word on it. Refused or BadSignature when it is not exactly what was signed, or its key counts no more."""
    row = await store.newest_setting(tx, job["job_id"])
    if row is None:
        raise Refused("Nobody has switched this job on.", code="unsigned")
    try:
        key = ring.get(row["key_id"])
    except Transient:
        raise Refused(f"The word on this job was signed with key {row['key_id']}, which is gone; switch it on again.", code="key") from None  # fmt: skip
    keys = PublicKeys({"decision": {key.key_id: key.public}})
    signed = Signed(payload=row["payload"], signature=row["signature"], key_id=row["key_id"])
    statement = keys.verify("decision", signed, JobSetting)
    wanted = read_job(job["job"])
    _same(job, wanted, statement)
    return wanted, statement


def _same(job: Row, wanted: CleanupJob, statement: JobSetting) -> None:
    if statement.job_id != job["job_id"] or statement.job_hash != wanted.hash:
        raise Refused("This job is not the one that was switched on: it was changed afterwards. Nothing was deleted.", code="changed")  # fmt: skip
    if statement.setting != "on" or statement.prior_version + 1 != job["version"]:
        raise Refused("The newest word on this job does not switch it on. Nothing was deleted.", code="off")
    if (wanted.app, wanted.table) != (job["app_slug"], job["table_name"]):
        raise Refused("This job names another table than the one that was switched on. Nothing was deleted.", code="changed")  # fmt: skip


async def _go_on(tx: Tx, job: Row, wanted: CleanupJob, statement: JobSetting, present: datetime) -> None:
    try:
        following = next_time(wanted, statement.decided_at, present)
    except SchleuseError:
        following = None
    if following is None:
        await store.set_state(tx, job["job_id"], "off", "its last time has come")
    else:
        await store.set_next(tx, job["job_id"], following)
