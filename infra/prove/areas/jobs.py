"""Area jobs: rows go by no job but one that a person switched on, in exactly those words, about a table where that is allowed, and no foreign key carries it further (rule 13, S15)."""

from typing import Any

from infra.prove.areas.actions import LISTED, keys_of, rows_of
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from schemas.catalogue import SURFACES
from schemas.statements import Signed
from schemas.work import CleanupJob, JobSetting
from shared.errors import BadSignature
from shared.signing import PublicKeys

ALLOWED = ("notices", "sign_in_failures", "feedback")
"""Of the console's own tables."""
PROPOSALS = ("app.proposed", "record.proposed", "job.proposed")
_ON = """SELECT j.job_id::text, j.job, j.job_hash, j.app_slug, j.table_name, j.version, s.payload, s.signature, s.key_id, s.version
  FROM app.jobs j LEFT JOIN LATERAL (SELECT * FROM app.job_settings s WHERE s.job_id = j.job_id ORDER BY s.version DESC LIMIT 1) s ON true
  WHERE j.state = 'on'"""
_RUNS = "SELECT r.run_id::text FROM app.job_runs r WHERE r.deleted > 0 AND NOT EXISTS (SELECT FROM app.job_settings s WHERE s.job_id = r.job_id AND s.setting = 'on')"  # fmt: skip
_CASCADES = """SELECT k.conrelid::regclass::text || ' when rows of ' || k.confrelid::regclass::text || ' go' FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE k.contype = 'f' AND k.confdeltype NOT IN ('a', 'r') AND n.nspname LIKE 'app\\_%'"""
_TRIGGERS = """SELECT t.tgname || ' on app.' || c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE NOT t.tgisinternal AND n.nspname = 'app' AND c.relname IN ('job_trash', 'job_settings', 'job_runs')"""


async def check(target: Target) -> list[Check]:
    book = Book("jobs")
    await check_senders(target, book)
    await check_rows(target, book)
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """The agent proposes, the console answers; nobody else says either."""
    for service in SURFACES:
        proposed = [] if service == "agent" else [f"from.agent.{each}" for each in PROPOSALS]
        answered = [] if service == "console" else ["from.console.proposal.answered", "from.console.app.stated"]
        onward = [*(f"to.console.{each}" for each in PROPOSALS), "to.agent.proposal.answered", "to.agent.app.stated"]
        subjects = [*proposed, *answered, *onward]
        tried: list[Attempt] = [{"kind": "bus", "as": service, "op": "publish", "subjects": [each], "payload": "{}"} for each in subjects]  # fmt: skip
        for each, outcome in zip(subjects, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {each}", outcome)


async def check_rows(target: Target, book: Book) -> None:
    """Every job that is on is read again, and its word is verified here and not by who runs it."""
    keys = await keys_of(target)
    faults = [fault for row in await rows_of(target, "console", _ON) if (fault := _fault(row, keys))]
    book.holds("console", "every job that is on does what a person signed for, where that is allowed", "; ".join(faults[:LISTED]))  # fmt: skip
    for says, query in (
        ("nothing was deleted by a job that nobody switched on", _RUNS),
        ("no foreign key lets rows of an app take others with them", _CASCADES),
        ("nothing but the console writes what it keeps of jobs", _TRIGGERS),
    ):
        found = [row[0] for row in await rows_of(target, "console", query)]
        book.holds("console", says, ", ".join(found[:LISTED]))


def _fault(row: list[Any], keys: PublicKeys) -> str:
    job_id, text, kept_hash, app, table, version, payload, signature, key_id, numbered = row
    if payload is None:
        return f"{job_id}: nobody signed for it"
    if app == "platform" and table not in ALLOWED:
        return f"{job_id}: it is about {table} of the platform"
    try:
        said = keys.verify("decision", Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id), JobSetting)  # fmt: skip
        job = CleanupJob.model_validate_json(text)
    except BadSignature as error:
        return f"{job_id}: {error.message}"
    except ValueError:
        return f"{job_id}: it is no job"
    if (said.setting, str(said.job_id), said.job_hash) != ("on", job_id, job.hash) or job.hash != kept_hash:
        return f"{job_id}: it is not the job that was switched on"
    if (job.app, job.table) != (app, table) or version != numbered or said.prior_version + 1 != version:
        return f"{job_id}: it names another table, or another word, than was signed"
    return ""
