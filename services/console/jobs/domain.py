"""Cleanup jobs: what may be asked of them, when they come, what their runs may do. No framework."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError

from schemas.text import BadJson, canonical, parse_json
from schemas.work import CleanupJob, JobSetting
from services.console.people.domain import Caller
from shared.errors import Conflict, NotFound, Refused
from shared.schedules.calendar import next_after, occurrences
from shared.schedules.cleanup import understand_cleanup
from shared.schedules.domain import Once, Understood

Row = Any
"""A row of the database, by the names of its columns."""
RunState = Literal["running", "done", "partly", "stopped", "failed", "missed"]
Setting = Literal["on", "off"]
PLATFORM = "platform"
"""What jobs call the console's own tables."""
BATCH, RUN_FOR, LOCK_FOR = 1000, timedelta(seconds=60), "2s"
"""Rows of one transaction; how long a run may take; how long a batch waits for a lock (rule 13)."""
KEPT = timedelta(days=7)
"""For which deleted rows can be restored."""
MOST_RATIO = 2
"""A run that would delete over so many times its dry run stops (S15)."""
CATCH_UP = timedelta(hours=24)
"""A missed time that is younger is caught up once (rule 8)."""
LOST_AFTER = timedelta(seconds=90)
"""Without a sign of life a run is taken for dead."""
FRESH = timedelta(minutes=30)
"""For which a dry run may be signed for."""
SHOWN_RUNS = 5
MOST_REASON = 500


@dataclass(frozen=True)
class DryRun:
    """What would go now. `rows`, `bytes` None: they could not be counted, and `error` says why (rule 30). `undated`: rows that stay because they have no date;
    `referenced`: rows that stay because others refer to them."""

    rows: int | None
    bytes: int | None
    undated: int | None
    referenced: int | None
    keys_hash: str
    error: str = ""


@dataclass(frozen=True)
class Wanted:
    """A switch that a person asked for. `dry_run_id`: the dry run that they saw; None switches off, or takes the newest one (operator)."""

    job_id: UUID
    setting: str
    reason: str = ""
    dry_run_id: UUID | None = None
    job_hash: str | None = None


def read_job(text: str) -> CleanupJob:
    """The job as it is kept. Refused when what stands there is none any more."""
    try:
        return CleanupJob.model_validate(parse_json(text.encode()))
    except (BadJson, ValidationError) as error:
        raise Refused(f"What is kept of this job is no job any more: {error}", code="job") from None


def job_text(job: CleanupJob) -> str:
    """Canonical JSON, whose SHA-256 is the job's hash."""
    return canonical(job.model_dump(mode="json")).decode()


def timetable(job: CleanupJob, at: datetime) -> Understood:
    """When it comes, as its words are understood at that instant, in the owner's zone; a day without a time means 03:00 (rule 7a). Refused otherwise."""
    return understand_cleanup(job.schedule, job.zone, at)


def coming(job: CleanupJob, since: datetime, after: datetime, count: int = SHOWN_RUNS) -> tuple[datetime, ...]:
    """Its next times strictly after that instant; `since`: when it was switched on, which fixes what its words mean."""
    when = timetable(job, since)
    return tuple(each.at for each in islice(occurrences(when.rule, when.zone, after), count))


def next_time(job: CleanupJob, since: datetime, after: datetime) -> datetime | None:
    when = timetable(job, since)
    found = next_after(when.rule, when.zone, after)
    return None if found is None else found.at


def missed_times(
    job: CleanupJob, since: datetime, first: datetime, present: datetime, most: int = 100
) -> list[datetime]:
    """All its times from `first` until now, oldest first; of more than `most` the newest ones are left out but for the last."""
    when = timetable(job, since)
    before = first - timedelta(seconds=1)
    found: list[datetime] = []
    for each in occurrences(when.rule, when.zone, before):
        if each.at > present:
            break
        found = [*found[: most - 1], each.at]
    return found


def is_once(job: CleanupJob, since: datetime) -> bool:
    return isinstance(timetable(job, since).rule, Once)


def check_setting(caller: Caller, job: Row | None, wanted: Wanted) -> tuple[Setting, str]:
    """What was asked for and why. NotFound, Forbidden, Refused; Conflict when the job has changed since it was shown, or is so already."""
    caller.require("connectors")
    if job is None:
        raise NotFound("There is no such job; `schleuse jobs list` shows them.", code="job")
    reason = " ".join(wanted.reason.split())
    if len(reason) > MOST_REASON:
        raise Refused(f"A reason has at most {MOST_REASON} characters.", code="reason")
    if wanted.job_hash is not None and wanted.job_hash != job["job_hash"]:
        raise Conflict("The job was changed since this page showed it. Look at it again; nothing was switched.", code="changed")  # fmt: skip
    if wanted.setting == "off":
        if job["state"] not in ("on", "stopped", "proposed"):
            raise Conflict(f"This job is {job['state']} already. Nothing was changed.", code="decided")
        return "off", reason
    if wanted.setting != "on":
        raise Refused("A job is switched on or off.", code="setting")
    if job["state"] == "on":
        raise Conflict("This job is on already. Nothing was changed.", code="decided")
    return "on", reason


def check_dry_run(dry_run: Row | None, job_hash: str, present: datetime) -> int:
    """The rows that it found: what the person signs for. Refused when there is none that counts."""
    if dry_run is None or dry_run["job_hash"] != job_hash:
        raise Refused("There is no dry run of exactly this job. Make one first; nothing was switched.", code="dry_run")
    if dry_run["rows"] is None:
        raise Refused(f"The last dry run failed: {dry_run['error']} Nothing was switched.", code="dry_run")
    if present - dry_run["as_of"] > FRESH:
        minutes = int(FRESH.total_seconds() / 60)
        raise Refused(f"The dry run is older than {minutes} minutes. Make it anew; nothing was switched.", code="dry_run")  # fmt: skip
    return int(dry_run["rows"])


def check_bound(statement: JobSetting, found: int) -> None:
    """Refused when a run would delete over twice what the person saw."""
    seen = statement.dry_run_rows
    if seen is None or found > MOST_RATIO * seen:
        saw = "no dry run" if seen is None else f"a dry run of {seen:,} rows"
        raise Refused(
            f"It would delete {found:,} rows, over twice what was signed for ({saw}). Nothing was deleted;"
            " look at a new dry run and switch it on again if that is right.",
            code="bound",
        )
