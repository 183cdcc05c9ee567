"""The roll-up at work, for infra/bench/site_rollup.py: as the console, with the code that it runs."""

import argparse
import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvloop

from services.console.analytics import views
from services.console.analytics.domain import Question, check_question
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.analytics.warehouse import Warehouse
from shared.clock import now
from shared.db import Database
from shared.settings import Settings

PORTION, DAYS = 50_000, 90
TRIES, TRIES_OF_POSTGRES = 3, 2
UNHURRIED = {"statement_timeout": "0", "transaction_timeout": "0", "work_mem": "1536MB"}
"""Postgres at its best: nothing is sorted on the disk, of which a service has a quarter of a gigabyte."""
_LOAD = "INSERT INTO app.interaction_loads (rows) VALUES ($1) RETURNING load"
_FILL = """
INSERT INTO app.interactions (load, n, at, kind, item_id, lang, path, referrer, link_id, visitor, value)
SELECT $1, n, $3::timestamptz + ($4::float8 * (n + random()) / $2) * interval '1 second', (ARRAY['view','view','view','view','vote','reaction','feedback'])[1 + n % 7],
  ('00000000-0000-4000-8000-' || lpad((n % 400)::text, 12, '0'))::uuid, (ARRAY['en','de','fr'])[1 + n % 3], '/doc/en/page-' || n % 400,
  (ARRAY['','','example.com','example.org'])[1 + n % 4], NULL, lpad(to_hex((random() * 200000)::int), 16, '0'), (n % 7 = 4)::int
FROM generate_series(0, $2 - 1) n"""


async def fill(db: Database, rows: int) -> None:
    """Spread over 90 days, a portion after the other in time, as they come from a site."""
    start, portions = now() - timedelta(days=DAYS), max(1, rows // PORTION)
    step = DAYS * 86400 / portions
    for number in range(portions):
        async with db.transaction() as tx:
            load = await tx.raw.fetchval(_LOAD, PORTION)
            await tx.raw.execute(_FILL, load, PORTION, start + timedelta(seconds=step * number), step, timeout=120)
    connection = await db.connect()
    await connection.execute("VACUUM ANALYZE app.interactions", timeout=600)
    await connection.close()


async def measure(settings: Settings, rows: int) -> dict[str, Any]:
    db, warehouse = Database(settings, pool_size=2), Warehouse(settings)
    await db.start()
    try:
        if rows:
            await fill(db, rows)
        asked = check_question("signals", "hour", "kind", now() - timedelta(days=DAYS + 1), now())
        postgres, ours = await _by_postgres(db, asked)
        found: dict[str, Any] = {"postgres_ms": round(postgres, 1), "clickhouse_ms": None, "rows": ours[1]}
        return found | (
            await _by_clickhouse(db, warehouse, settings, asked, (postgres, ours)) if warehouse.installed else {}
        )
    finally:
        await warehouse.stop()
        await db.stop()


async def _by_postgres(db: Database, asked: Question) -> tuple[float, Any]:
    """Milliseconds, the best of two, and what it said. A connection of its own: a service's statements end sooner."""
    connection, best, said = await db.connect(), float("inf"), None
    for name, value in UNHURRIED.items():
        await connection.execute("SELECT set_config($1, $2, false)", name, value)
    statement = views.statement(asked, "postgres")
    for _ in range(TRIES_OF_POSTGRES):
        began = time.perf_counter()
        found = await connection.fetch(statement.sql, *statement.values.values())
        best, said = min(best, (time.perf_counter() - began) * 1000), views.points(asked, found)
    await connection.close()
    return best, said


async def _by_clickhouse(
    db: Database, warehouse: Warehouse, settings: Settings, asked: Question, other: tuple[float, Any]
) -> dict[str, Any]:
    began = time.perf_counter()
    await sync_warehouse(db, warehouse, settings)
    told = time.perf_counter() - began
    statement, best, said = views.statement(asked, "clickhouse"), float("inf"), None
    for _ in range(TRIES):
        answer = await warehouse.ask("ask", sql=statement.sql, values=statement.values)
        best, said = min(best, answer["milliseconds"]), views.points(asked, answer["rows"])
    ratio = round(other[0] / best, 1)
    return {"clickhouse_ms": round(best, 1), "ratio": ratio, "told_s": round(told, 1), "equal": said == other[1]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(uvloop.run(measure(Settings.load("console", given.state), given.rows))))


if __name__ == "__main__":
    main()
