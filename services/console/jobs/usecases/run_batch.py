"""Up to 1,000 rows of a run go to the trash, in one transaction (rule 13)."""

from services.console.apps.views import find_app
from services.console.jobs import store
from services.console.jobs.domain import BATCH, KEPT, MOST_RATIO, PLATFORM, check_bound
from services.console.jobs.rows import store as rows
from services.console.jobs.rows.domain import Target, read_conditions
from services.console.jobs.usecases.find_target import check_held, find_target
from services.console.jobs.usecases.start_run import Started
from services.console.leaks.note import note_changes
from services.console.records.domain import By, Change, read_key, shape_of
from services.console.records.store import keep_history
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, Refused


async def count_run(tx: Tx, run: Started) -> int:
    """The rows that it found at its start. Refused when they are over twice those of the dry run (S15), or the table may not be touched."""
    assert run.wanted and run.statement and run.at and run.run_id, "a run that was started"
    target = await find_target(tx, run.wanted.app, run.wanted.table)
    held = await check_held(tx, target)
    found = await rows.count(tx, target, read_conditions(run.wanted, target, run.at), held)
    await store.put_found(tx, run.run_id, found)
    check_bound(run.statement, found["rows"])
    return int(found["rows"])


async def run_batch(tx: Tx, run: Started, holder: str) -> int:
    """How many rows went; 0: none is left. Conflict when the run is not this process's any more, or the job was switched off meanwhile."""
    assert run.wanted and run.statement and run.at and run.run_id, "a run that was started"
    job = await store.one(tx, run.job["job_id"], lock=True)
    progress = await store.progress(tx, run.run_id, holder, 0, 0)
    if job is None or progress is None:
        raise Conflict("another process has taken this run for dead")
    if job["version"] != run.statement.prior_version + 1 or job["job_hash"] != run.statement.job_hash:
        raise Conflict("the job was switched or changed while it ran")
    room = MOST_RATIO * (run.statement.dry_run_rows or 0) - progress
    target = await find_target(tx, run.wanted.app, run.wanted.table)
    held, what = await check_held(tx, target), read_conditions(run.wanted, target, run.at)
    at = now()
    keys, size = await rows.delete(tx, target, what, held, run.run_id, at, at + KEPT, min(BATCH, max(room, 0) + 1))
    if len(keys) > room:
        check_bound(run.statement, progress + len(keys))
        raise Refused("It would delete more than what was signed for.", code="bound")
    if keys:
        await store.progress(tx, run.run_id, holder, len(keys), size)
        await note_gone(tx, target, keys, run)
    return len(keys)


async def note_gone(tx: Tx, target: Target, keys: list[str], run: Started) -> None:
    """The history of a row says that it went, and not what it was: that is in the trash, for seven days. Its fingerprints go too (S14)."""
    app = None if target.app == PLATFORM else await find_app(tx, target.app)
    if app is None:
        return
    by = By(str(run.job["job_id"]), f"cleanup job “{run.job['name']}”"[:200], "job", run.run_id)
    await keep_history(tx, shape_of(app, target.table), [Change(each, "deleted", None, None) for each in keys], by)
    await note_changes(tx, target.app, target.table, [tuple(read_key(each)) for each in keys])
