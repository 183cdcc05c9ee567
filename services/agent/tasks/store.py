"""Statements over tasks and their runs. Those of an owner run where the transaction acts for them, and say so once more."""
# statements are composed of names of ours
# ruff: noqa: S608

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import ObjectNotInPrerequisiteStateError, Record

from schemas.outward import Owner
from services.agent.tasks.domain import Run, RunState, Task
from services.agent.tasks.rows import RUN, SHOWN, run_of, task_of
from services.agent.tasks.tables import CHANGED
from shared.db import Tx
from shared.errors import Conflict

_MINE = "owner_kind = $1 AND owner_id = $2"
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('tasks'), hashtext($1))"
_COUNT = f"SELECT count(*) FROM core.tasks WHERE {_MINE} AND state <> 'ended'"
_GET = f"SELECT {SHOWN} FROM core.tasks WHERE {_MINE} AND task_id = $3"
_LIST = f"SELECT {SHOWN} FROM core.tasks WHERE {_MINE} AND (state <> 'ended' OR $3) ORDER BY next_at NULLS LAST, created_at, task_id"
_DUE = """
INSERT INTO app.due_tasks (task_id, owner_kind, owner_id, due_at, revision) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (task_id) DO UPDATE SET (due_at, revision) = (excluded.due_at, excluded.revision)"""
_NOT_DUE = "DELETE FROM app.due_tasks WHERE task_id = $1"
_RUNS = f"SELECT {RUN} FROM core.task_runs WHERE {_MINE} AND task_id = $3 ORDER BY nominal_at DESC LIMIT $4"
_RUN = f"SELECT {RUN} FROM core.task_runs WHERE {_MINE} AND task_id = $3 AND nominal_at = $4"
_MISSED = f"""
SELECT {", ".join(f"t.{name}" for name in SHOWN.split(", "))}, {", ".join(f"r.{name} AS run_{name}" for name in RUN.split(", "))}
FROM (SELECT * FROM core.task_runs WHERE {_MINE} AND (state IN ('missed', 'skipped', 'interrupted', 'failed') OR reason <> '') ORDER BY at DESC LIMIT $3) r
JOIN core.tasks t USING (owner_kind, owner_id, task_id) ORDER BY r.at DESC"""
_BEGUN = f"""
UPDATE core.task_runs SET state = 'running', conversation_id = $5, turn_id = $6
WHERE {_MINE} AND task_id = $3 AND nominal_at = $4 AND state IN ('claimed', 'running') RETURNING task_id"""
_ENDED = f"""
UPDATE core.task_runs SET state = $5, output = $6, error = $7, reason = CASE WHEN $8 = '' THEN reason ELSE $8 END, ended_at = clock_timestamp()
WHERE {_MINE} AND task_id = $3 AND nominal_at = $4 AND state IN ('claimed', 'running') RETURNING task_id"""
_CLOSE = "DELETE FROM app.open_runs WHERE task_id = $1 AND nominal_at = $2"
_WAKE = f"""
UPDATE app.due_tasks SET due_at = clock_timestamp()
WHERE task_id = $3 AND EXISTS (SELECT FROM core.tasks t WHERE {_MINE} AND t.task_id = $3 AND t.held)"""
_DEAD = """
SELECT o.task_id, o.owner_kind, o.owner_id, o.nominal_at FROM app.open_runs o LEFT JOIN app.turn_workers w USING (worker)
WHERE o.worker <> $1 AND (w.worker IS NULL OR w.part = $2 OR w.seen_at < clock_timestamp() - make_interval(secs => $3)) LIMIT 500"""
_DUE_NOW = "SELECT * FROM core.due_now($1)"
_NEXT = "SELECT min(due_at) AS due_at, clock_timestamp() AS now FROM app.due_tasks"
_LATE = "SELECT count(*) AS late, coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0) AS oldest FROM (SELECT due_at FROM app.due_tasks WHERE due_at < clock_timestamp() - interval '5 seconds' ORDER BY due_at LIMIT 10000) d"
_FIRE = "SELECT * FROM core.fire_tasks($1, $2, $3::jsonb)"


async def lock(tx: Tx, owner: Owner) -> None:
    """Two that add for the same owner at once come one after the other, so that both count."""
    await tx.raw.execute(_LOCK, str(owner))


async def count_open(tx: Tx, owner: Owner) -> int:
    return int(await tx.raw.fetchval(_COUNT, owner.kind, owner.id))


async def add_task(tx: Tx, owner: Owner, row: Mapping[str, Any]) -> Task:
    names = ["owner_kind", "owner_id", *row]
    places = ", ".join(f"${n}" for n in range(1, len(names) + 1))
    statement = f"INSERT INTO core.tasks ({', '.join(names)}) VALUES ({places}) RETURNING {SHOWN}"
    made = await tx.raw.fetchrow(statement, owner.kind, owner.id, *row.values())
    assert made is not None
    return task_of(made)


async def get_task(tx: Tx, owner: Owner, task_id: UUID, *, lock: bool = False) -> Task | None:
    """`lock`: until the transaction ends nothing fires it, and nobody else changes it."""
    row = await tx.raw.fetchrow(f"{_GET} FOR UPDATE" if lock else _GET, owner.kind, owner.id, task_id)
    return None if row is None else task_of(row)


async def list_tasks(tx: Tx, owner: Owner, *, ended: bool) -> tuple[Task, ...]:
    return tuple(task_of(row) for row in await tx.raw.fetch(_LIST, owner.kind, owner.id, ended))


async def change_task(tx: Tx, owner: Owner, task_id: UUID, columns: Mapping[str, Any]) -> Task:
    """A new revision: what was queued under an older one is void."""
    assert set(columns) <= set(CHANGED)
    sets = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, 4))
    statement = (
        f"UPDATE core.tasks SET {sets}, revision = revision + 1 WHERE {_MINE} AND task_id = $3 RETURNING {SHOWN}"
    )
    row = await tx.raw.fetchrow(statement, owner.kind, owner.id, task_id, *columns.values())
    assert row is not None
    return task_of(row)


async def put_due(tx: Tx, owner: Owner, task: Task) -> None:
    """When the loop looks at it, or that it need not."""
    if task.next_at is None:
        await tx.raw.execute(_NOT_DUE, task.task_id)
    else:
        await tx.raw.execute(_DUE, task.task_id, owner.kind, owner.id, task.next_at, task.revision)


async def runs_of(tx: Tx, owner: Owner, task_id: UUID, limit: int) -> tuple[Run, ...]:
    return tuple(run_of(row) for row in await tx.raw.fetch(_RUNS, owner.kind, owner.id, task_id, limit))


async def run_at(tx: Tx, owner: Owner, task_id: UUID, nominal_at: datetime) -> Run | None:
    row = await tx.raw.fetchrow(_RUN, owner.kind, owner.id, task_id, nominal_at)
    return None if row is None else run_of(row)


async def missed_of(tx: Tx, owner: Owner, limit: int) -> tuple[tuple[Task, Run], ...]:
    rows = await tx.raw.fetch(_MISSED, owner.kind, owner.id, limit)
    return tuple((task_of(row), run_of(row, "run_")) for row in rows)


async def begin_run(
    tx: Tx, owner: Owner, task_id: UUID, nominal_at: datetime, conversation_id: UUID | None, turn_id: UUID | None
) -> bool:
    """False when it is over already."""
    where = (owner.kind, owner.id, task_id, nominal_at)
    return await tx.raw.fetchval(_BEGUN, *where, conversation_id, turn_id) is not None


async def end_run(
    tx: Tx, owner: Owner, task_id: UUID, nominal_at: datetime, state: RunState, output: str, error: str, reason: str
) -> bool:
    """False when it was over already. A time that waited for its end is due now."""
    where = (owner.kind, owner.id, task_id, nominal_at)
    ended = await tx.raw.fetchval(_ENDED, *where, state, output, error, reason) is not None
    await tx.raw.execute(_CLOSE, task_id, nominal_at)
    await tx.raw.execute(_WAKE, owner.kind, owner.id, task_id)
    return ended


async def dead_runs(tx: Tx, worker: str, part: str, silent: float) -> list[tuple[Owner, UUID, datetime]]:
    """Runs of processes that say nothing for that many seconds, or of an earlier start of this one."""
    rows = await tx.raw.fetch(_DEAD, worker, part, silent)
    return [(Owner(kind=row["owner_kind"], id=row["owner_id"]), row["task_id"], row["nominal_at"]) for row in rows]


async def due_now(tx: Tx, most: int) -> Sequence[Record]:
    """What is due, the oldest first, with the database's time as `looked_at`; `kind` None: no such task at that revision."""
    return await tx.raw.fetch(_DUE_NOW, most)


async def next_due(tx: Tx) -> tuple[datetime | None, datetime]:
    """When something is due next, and what time it is, both by the database."""
    row = await tx.raw.fetchrow(_NEXT)
    assert row is not None
    return row["due_at"], row["now"]


async def late(tx: Tx) -> tuple[int, float]:
    """How many tasks are due for more than five seconds, and for how long the oldest is."""
    row = await tx.raw.fetchrow(_LATE)
    assert row is not None
    return int(row["late"]), float(row["oldest"])


async def fire(tx: Tx, fence: int, worker: str, batch: str) -> Sequence[Record]:
    """`batch`: JSON, see tables.py. What fired, as place and nominal_at. Conflict (code `lease`) when the lease has moved on; then nothing was written."""
    try:
        return await tx.raw.fetch(_FIRE, fence, worker, batch)
    except ObjectNotInPrerequisiteStateError as error:
        raise Conflict(str(error), code="lease") from error
