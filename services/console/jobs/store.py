"""Cleanup jobs, their signed settings, dry runs and runs, in console_db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from services.console.jobs.domain import DryRun, RunState
from shared.db import Tx

MOST = 500
_ADD = """INSERT INTO app.jobs (job_id, job, job_hash, app_slug, table_name, name, proposal_id, owner_id, owner_name, made_by, made_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING job_id"""
_JOBS = """SELECT j.*, d.dry_run_id, d.as_of, d.rows, d.bytes, d.undated, d.referenced, d.keys_hash, d.error AS dry_error,
    s.by_name AS set_by, s.at AS set_at, s.reason AS set_why, r.state AS last_state, r.started_at AS last_at, r.deleted AS last_deleted
  FROM app.jobs j
  LEFT JOIN LATERAL (SELECT * FROM app.job_dry_runs d WHERE d.job_id = j.job_id ORDER BY d.as_of DESC LIMIT 1) d ON true
  LEFT JOIN LATERAL (SELECT * FROM app.job_settings s WHERE s.job_id = j.job_id ORDER BY s.version DESC LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT * FROM app.job_runs r WHERE r.job_id = j.job_id ORDER BY r.nominal_at DESC LIMIT 1) r ON true"""
_ALL = f"{_JOBS} ORDER BY j.state = 'on' DESC, j.next_at NULLS LAST, j.made_at DESC LIMIT {MOST}"
_ONE = f"{_JOBS} WHERE j.job_id = $1"
_DUE = """SELECT * FROM app.jobs WHERE state = 'on' AND next_at <= $1 ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED"""
_SET = "UPDATE app.jobs SET state = $2, reason = $3, next_at = $4, version = $5 WHERE job_id = $1"
_STATE = "UPDATE app.jobs SET state = $2, reason = $3, next_at = NULL WHERE job_id = $1"
_DRY = """INSERT INTO app.job_dry_runs (dry_run_id, job_id, job_hash, as_of, rows, bytes, undated, referenced, keys_hash, error, by_name)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"""
_SETTING = """INSERT INTO app.job_settings (statement_hash, job_id, setting, payload, signature, key_id, opening, by_id, by_name, by_via, reason, at, version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"""
_RUN = """INSERT INTO app.job_runs (run_id, job_id, nominal_at, how, state, started_at, alive_at, ended_at, holder, app_slug, table_name, by_name, error)
  VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING RETURNING run_id"""
_PROGRESS = """UPDATE app.job_runs SET deleted = deleted + $3, bytes = bytes + $4, alive_at = clock_timestamp()
  WHERE run_id = $1 AND holder = $2 AND state = 'running' RETURNING deleted"""
_FOUND = (
    "UPDATE app.job_runs SET found = $2, undated = $3, referenced = $4, alive_at = clock_timestamp() WHERE run_id = $1"
)
_END = "UPDATE app.job_runs SET state = $3, ended_at = $4, output = $5, error = $6 WHERE run_id = $1 AND holder = $2 AND state = 'running'"
_LOST = """UPDATE app.job_runs SET state = 'failed', ended_at = $2, error = 'the console stopped while it ran; what was left goes at the next run'
  WHERE state = 'running' AND alive_at < $1 RETURNING job_id, run_id"""


async def add(tx: Tx, job_id: UUID, kept: dict[str, Any]) -> bool:
    """`kept`: job, job_hash, app_slug, table_name, name, proposal_id, owner_id, owner_name, made_by, made_at. False when it was there already."""
    return await tx.raw.fetchval(_ADD, job_id, *kept.values()) is not None


async def listed(tx: Tx) -> Sequence[Record]:
    """Those that are on first, by their next time; each with its newest dry run, setting and run."""
    found: Sequence[Record] = await tx.raw.fetch(_ALL)
    return found


async def one(tx: Tx, job_id: UUID, *, lock: bool = False) -> Record | None:
    """`lock`: nobody else changes it until the transaction ends."""
    if lock:
        await tx.raw.fetchrow("SELECT FROM app.jobs WHERE job_id = $1 FOR UPDATE", job_id)
    return await tx.raw.fetchrow(_ONE, job_id)


async def due(tx: Tx, present: datetime) -> Record | None:
    """One whose time has come, held until the transaction ends; another instance takes another."""
    return await tx.raw.fetchrow(_DUE, present)


async def next_due(tx: Tx) -> datetime | None:
    found: datetime | None = await tx.raw.fetchval("SELECT min(next_at) FROM app.jobs WHERE state = 'on'")
    return found


async def set_next(tx: Tx, job_id: UUID, next_at: datetime | None) -> None:
    await tx.raw.execute("UPDATE app.jobs SET next_at = $2 WHERE job_id = $1", job_id, next_at)


async def set_state(tx: Tx, job_id: UUID, state: str, reason: str) -> None:
    """It comes no more."""
    await tx.raw.execute(_STATE, job_id, state, reason)


async def put_setting(tx: Tx, kept: tuple[Any, ...], state: str, next_at: datetime | None) -> None:
    """`kept`: the columns of a signed setting, in their order."""
    await tx.raw.execute(_SETTING, *kept)
    await tx.raw.execute(_SET, kept[1], state, "", next_at, kept[12])


async def newest_setting(tx: Tx, job_id: UUID) -> Record | None:
    return await tx.raw.fetchrow("SELECT * FROM app.job_settings WHERE job_id = $1 ORDER BY version DESC LIMIT 1", job_id)  # fmt: skip


async def settings(tx: Tx, job_id: UUID) -> Sequence[Record]:
    """Newest first."""
    found: Sequence[Record] = await tx.raw.fetch("SELECT * FROM app.job_settings WHERE job_id = $1 ORDER BY version DESC LIMIT 50", job_id)  # fmt: skip
    return found


async def add_dry_run(tx: Tx, dry_run_id: UUID, job: Any, at: datetime, found: DryRun, by_name: str) -> None:
    figures = (found.rows, found.bytes, found.undated, found.referenced, found.keys_hash, found.error)
    await tx.raw.execute(_DRY, dry_run_id, job["job_id"], job["job_hash"], at, *figures, by_name)


async def dry_run(tx: Tx, job_id: UUID, dry_run_id: UUID | None = None) -> Record | None:
    """That one of this job; without an id the newest."""
    found = "SELECT * FROM app.job_dry_runs WHERE job_id = $1 AND ($2::uuid IS NULL OR dry_run_id = $2) ORDER BY as_of DESC LIMIT 1"  # fmt: skip
    return await tx.raw.fetchrow(found, job_id, dry_run_id)


async def add_run(tx: Tx, run_id: UUID, job: Any, nominal: datetime, how: str, state: RunState, at: datetime | None, ended: datetime | None, holder: str, by_name: str, error: str = "") -> bool:  # fmt: skip
    """False when this time of the job has a row already (rule 9)."""
    about = (job["app_slug"], job["table_name"], by_name, error)
    return (
        await tx.raw.fetchval(_RUN, run_id, job["job_id"], nominal, how, state, at, ended, holder, *about) is not None
    )


async def progress(tx: Tx, run_id: UUID, holder: str, deleted: int, size: int) -> int | None:
    """All that it deleted so far; None when the run is not this process's any more."""
    found: int | None = await tx.raw.fetchval(_PROGRESS, run_id, holder, deleted, size)
    return found


async def put_found(tx: Tx, run_id: UUID, found: Any) -> None:
    await tx.raw.execute(_FOUND, run_id, found["rows"], found["undated"], found["referenced"])


async def end_run(tx: Tx, run_id: UUID, holder: str, state: RunState, at: datetime, output: str, error: str) -> None:
    await tx.raw.execute(_END, run_id, holder, state, at, output, error)


async def end_lost(tx: Tx, before: datetime, at: datetime) -> Sequence[Record]:
    """Runs that show no life are failed ones: job_id, run_id."""
    found: Sequence[Record] = await tx.raw.fetch(_LOST, before, at)
    return found


async def run(tx: Tx, run_id: UUID, *, lock: bool = False) -> Record | None:
    held = " FOR UPDATE OF r" if lock else ""
    return await tx.raw.fetchrow(f"SELECT r.*, j.name, j.job FROM app.job_runs r JOIN app.jobs j USING (job_id) WHERE run_id = $1{held}", run_id)  # noqa: S608 - our own words  # fmt: skip


async def runs(tx: Tx, job_id: UUID | None, limit: int = 50) -> Sequence[Record]:
    """Of one job or all, the newest first."""
    found: Sequence[Record] = await tx.raw.fetch(
        """SELECT r.*, j.name, (SELECT count(*) FROM app.job_trash t WHERE t.run_id = r.run_id AND t.expires_at > clock_timestamp()) AS in_trash,
          (SELECT max(expires_at) FROM app.job_trash t WHERE t.run_id = r.run_id) AS until
        FROM app.job_runs r JOIN app.jobs j USING (job_id) WHERE $1::uuid IS NULL OR job_id = $1 ORDER BY r.nominal_at DESC LIMIT $2""",
        job_id, limit,
    )  # fmt: skip
    return found


async def put_restored(tx: Tx, run_id: UUID, rows: int) -> None:
    await tx.raw.execute("UPDATE app.job_runs SET restored = restored + $2 WHERE run_id = $1", run_id, rows)


async def on_since_before(tx: Tx, at: datetime) -> Sequence[Record]:
    """Jobs that are on by a word of before that instant, held until the transaction ends."""
    found: Sequence[Record] = await tx.raw.fetch(
        """SELECT j.* FROM app.jobs j WHERE j.state = 'on'
        AND (SELECT max(s.at) FROM app.job_settings s WHERE s.job_id = j.job_id) < $1 FOR UPDATE SKIP LOCKED""",
        at,
    )
    return found


async def orphans(tx: Tx, most: int) -> Sequence[Record]:
    """Proposals of jobs that have no job yet: proposal_id, body, owner_id, owner_name, at. Another instance takes others."""
    found: Sequence[Record] = await tx.raw.fetch(
        """SELECT p.* FROM app.proposals p WHERE p.about = 'job' AND p.state = 'waiting' AND p.version = 0
        ORDER BY p.at LIMIT $1 FOR UPDATE SKIP LOCKED""",
        most,
    )
    return found
