"""Jobs of apps' code and their runs, in console_db."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from shared.db import Tx

_PUT = """INSERT INTO app.app_jobs AS old (slug, name, schedule, about) VALUES ($1, $2, $3, $4)
  ON CONFLICT (slug, name) DO UPDATE SET (schedule, about, is_gone) = (excluded.schedule, excluded.about, false)"""
_GONE = (
    "UPDATE app.app_jobs SET is_gone = true, is_on = false, next_at = NULL WHERE slug = $1 AND name <> ALL ($2::text[])"
)
_OTHER = "UPDATE app.app_jobs SET is_on = false, next_at = NULL WHERE slug = $1 AND name = $2 AND schedule <> $3"
_ALL = "SELECT name, schedule, about, is_on, zone, by_name, at, next_at FROM app.app_jobs WHERE slug = $1 AND NOT is_gone ORDER BY name"
_ONE = "SELECT slug, name, schedule, is_on, zone FROM app.app_jobs WHERE slug = $1 AND name = $2 AND NOT is_gone FOR UPDATE"
_SET = (
    "UPDATE app.app_jobs SET is_on = $3, zone = $4, by_name = $5, at = $6, next_at = $7 WHERE slug = $1 AND name = $2"
)
_DUE = """SELECT j.slug, j.name, j.schedule, j.zone, j.next_at FROM app.app_jobs j JOIN app.apps a USING (slug)
  WHERE j.is_on AND NOT j.is_gone AND j.next_at <= $1 AND a.state = 'installed' ORDER BY j.next_at LIMIT 1 FOR UPDATE OF j SKIP LOCKED"""
_NEXT = "UPDATE app.app_jobs SET next_at = $3 WHERE slug = $1 AND name = $2"
_BEGIN = """INSERT INTO app.app_job_runs (run_id, slug, name, nominal_at, state, error, started_at, seen_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)
  ON CONFLICT (slug, name, nominal_at) DO NOTHING RETURNING run_id"""
_SEEN = "UPDATE app.app_job_runs SET seen_at = $2 WHERE run_id = $1"
_END = "UPDATE app.app_job_runs SET state = $2, output = $3, error = $4, ended_at = $5, seen_at = $5 WHERE run_id = $1 AND state = 'running'"
_LOST = "UPDATE app.app_job_runs SET state = 'failed', error = 'the process that ran it is gone', ended_at = $2 WHERE state = 'running' AND seen_at < $1"
_RUNS = "SELECT run_id, name, nominal_at, state, output, error, started_at, ended_at FROM app.app_job_runs WHERE slug = $1 ORDER BY started_at DESC LIMIT 30"
_RUNNING = "SELECT count(*) FROM app.app_job_runs WHERE slug = $1 AND name = $2 AND state = 'running'"


async def put_jobs(tx: Tx, slug: str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """What the newest version has. One whose times are others than those that a person switched on is off until they do so again."""
    names = [str(each["name"])[:60] for each in jobs]
    await tx.raw.execute(_GONE, slug, names)
    for name, each in zip(names, jobs, strict=True):
        schedule = str(each.get("schedule", ""))[:500]
        await tx.raw.execute(_OTHER, slug, name, schedule)
        await tx.raw.execute(_PUT, slug, name, schedule, str(each.get("about", ""))[:200])


async def listed(tx: Tx, slug: str) -> Sequence[Record]:
    found: Sequence[Record] = await tx.raw.fetch(_ALL, slug)
    return found


async def one(tx: Tx, slug: str, name: str) -> Record | None:
    return await tx.raw.fetchrow(_ONE, slug, name)


async def put(
    tx: Tx, slug: str, name: str, *, on: bool, zone: str, by_name: str, at: datetime, next_at: datetime | None
) -> None:
    await tx.raw.execute(_SET, slug, name, on, zone, by_name, at, next_at)


async def due(tx: Tx, at: datetime) -> Record | None:
    """The job whose time has come longest ago, held until the end of the transaction."""
    return await tx.raw.fetchrow(_DUE, at)


async def put_next(tx: Tx, slug: str, name: str, next_at: datetime | None) -> None:
    await tx.raw.execute(_NEXT, slug, name, next_at)


async def begin(
    tx: Tx, run_id: UUID, slug: str, name: str, nominal_at: datetime, at: datetime, missed: str = ""
) -> bool:
    """False when this time was run before."""
    row = (run_id, slug, name, nominal_at, "missed" if missed else "running", missed, at, at if missed else None)
    return await tx.raw.fetchval(_BEGIN, *row) is not None


async def seen(tx: Tx, run_id: UUID, at: datetime) -> None:
    await tx.raw.execute(_SEEN, run_id, at)


async def end(tx: Tx, run_id: UUID, state: str, output: str, error: str, at: datetime) -> None:
    await tx.raw.execute(_END, run_id, state, output, error, at)


async def end_lost(tx: Tx, silent_since: datetime, at: datetime) -> None:
    await tx.raw.execute(_LOST, silent_since, at)


async def runs(tx: Tx, slug: str) -> Sequence[Record]:
    """Newest first."""
    found: Sequence[Record] = await tx.raw.fetch(_RUNS, slug)
    return found


async def is_running(tx: Tx, slug: str, name: str) -> bool:
    return bool(await tx.raw.fetchval(_RUNNING, slug, name))
