"""Tasks at work, for infra/bench/tasks_firing.py: `fill` as the database's own user, `fire` as the agent with the code that it runs, and two queues beside it.

The loop's lease is taken from the agent while this fires, and handed back.
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

import uvloop

from infra.bench.tasks_queues import measure_pgqueuer, measure_procrastinate
from infra.observe.doing.session import session
from infra.postgres.settings import SUPERUSER
from services.agent.tasks import store
from services.agent.tasks.firing import BATCH, fire_due
from services.agent.tasks.leasing.lease import TaskLease
from shared.db import Database
from shared.ids import fresh_id
from shared.settings import DATABASES, Settings

OF_ONE, LOOKS = 100, 200
_STORE = """
WITH made AS (
  INSERT INTO core.tasks (owner_kind, owner_id, task_id, kind, title, text, rule, zone, words, state, next_at, notify, misfire, window_s, overlap)
  SELECT 'user', $1 || '-' || n / $4::int, gen_random_uuid(), 'reminder', 'Bench', 'a reminder', $5, 'UTC', 'once', 'active', $6, true, 'latest', 86400, 'skip'
    FROM generate_series($2::int, $3::int - 1) AS n
  RETURNING task_id, owner_kind, owner_id, next_at, revision
) INSERT INTO app.due_tasks (task_id, owner_kind, owner_id, due_at, revision) SELECT task_id, owner_kind, owner_id, next_at, revision FROM made"""


async def fill(state: Path, owners: str, stored: int, count: int) -> dict[str, Any]:
    """All far ahead; `fire` lets some of them be due."""
    async with session(state, SUPERUSER, DATABASES["agent"]) as connection:
        moment = await connection.fetchval("SELECT date_trunc('second', clock_timestamp() + interval '1 day')")
        rule = json.dumps({"kind": "once", "at": moment.isoformat()})
        for first in range(0, stored + count, 5000):
            await connection.execute(_STORE, owners, first, min(first + 5000, stored + count), OF_ONE, rule, moment)
        for table in ("core.tasks", "app.due_tasks"):
            await connection.execute(f"VACUUM ANALYZE {table}")
    return {"tasks_stored": stored}


async def fire(state: Path, owners: str, stored: int, count: int) -> dict[str, Any]:
    """The median of finding a batch of due tasks among all, and reminders a second until none is due any more."""
    settings = Settings.load("agent", state)
    db = Database(settings, pool_size=2)
    await db.start()
    lease = TaskLease(db, fresh_id().hex, settings.part)
    await lease.start()
    try:
        while lease.fence is None:  # noqa: ASYNC110 - taken within a second
            await asyncio.sleep(0.01)
        await _let_be_due(db, BATCH)
        found = {"due_query_ms": round(await _look(db), 2)}
        await _let_be_due(db, count - BATCH)
        began, fired = time.perf_counter(), 0
        while fence := lease.fence:
            due, batch = await fire_due(db, fence, "bench")
            fired += len(batch)
            if not due:
                break
        return found | {"firings_per_s": round(fired / (time.perf_counter() - began)), "fired": fired}
    finally:
        await lease.stop()
        await db.stop()


async def _let_be_due(db: Database, count: int) -> None:
    """As if their time were now: each owner's rows as that owner."""
    async with db.transaction() as tx:
        rows = await tx.raw.fetch(
            "UPDATE app.due_tasks SET due_at = clock_timestamp() WHERE task_id IN (SELECT task_id FROM app.due_tasks WHERE due_at > clock_timestamp()"
            " LIMIT $1) RETURNING task_id, owner_id, due_at",
            count,
        )
        for owner in {row["owner_id"] for row in rows}:
            await tx.raw.execute(
                "SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', $1, true)", owner
            )
            mine = [row for row in rows if row["owner_id"] == owner]
            await tx.raw.execute(
                "UPDATE core.tasks t SET next_at = d.at FROM unnest($1::uuid[], $2::timestamptz[]) AS d(id, at) WHERE t.task_id = d.id",
                [row["task_id"] for row in mine], [row["due_at"] for row in mine],
            )  # fmt: skip


async def _look(db: Database) -> float:
    """Milliseconds, median: a whole batch with what is needed to plan it, of as many owners as it has."""
    took = []
    async with db.reading() as tx:
        for _ in range(LOOKS):
            began = time.perf_counter()
            await store.due_now(tx, BATCH)
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


PARTS = {"fill": fill, "fire": fire, "procrastinate": measure_procrastinate, "pgqueuer": measure_pgqueuer}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--part", choices=tuple(PARTS), required=True)
    parser.add_argument("--owners", required=True)
    parser.add_argument("--stored", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    asked = parser.parse_args()
    print(json.dumps(uvloop.run(PARTS[asked.part](asked.state, asked.owners, asked.stored, asked.count))))


if __name__ == "__main__":
    main()
