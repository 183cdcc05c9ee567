"""The raw leg of Postgres: inbox, crossing, outbox and todo for 100 events in one statement and transaction.

Runs as the bridge's OS user, on copies of its tables with all their indexes, which are gone afterwards:
`python -m infra.bench.raw_postgres --state DIR --batches N` prints {"rate": events a second}.
"""

import argparse
import json
import time
from pathlib import Path
from uuid import uuid4

import asyncpg
import uvloop

from shared.settings import Settings

BATCH = 100
_COPIES = {"inbox": "app.inbox", "crossings": "core.crossings", "outbox": "app.outbox", "todo": "app.todo"}
_STATEMENT = """
WITH e AS (SELECT * FROM unnest($1::uuid[], $2::bytea[]) AS t(id, body)),
 i AS (INSERT INTO app.raw_inbox (reader, event_id, name) SELECT 'bridge', id, 'signals.recorded' FROM e
       ON CONFLICT DO NOTHING RETURNING event_id),
 c AS (INSERT INTO app.raw_crossings (event_id, sender, receiver, type, key, keyversion, body_hash, policy, verdict)
       SELECT id, 'site', 'console', 'signals.recorded', id::text, 1, repeat('0', 64), 'deliver', 'delivered'
         FROM e JOIN i ON i.event_id = e.id),
 o AS (INSERT INTO app.raw_outbox (event_id, name, subject, lane, key, keyversion, body, headers)
       SELECT id, 'signals.recorded', 'to.console.signals.recorded', 'console.bulk', id::text, 1, body, '{}'
         FROM e JOIN i ON i.event_id = e.id RETURNING position, lane)
INSERT INTO app.raw_todo (position, lane) SELECT position, lane FROM o
"""


async def rate(state: Path, batches: int) -> float:
    """Events a second, one batch after another on one connection."""
    settings = Settings.load("bridge", state)
    connection = await asyncpg.connect(
        host=str(settings.pg_socket_dir), user=settings.service, database=settings.database
    )
    try:
        await _drop(connection)
        for name, like in _COPIES.items():
            await connection.execute(f"CREATE TABLE app.raw_{name} (LIKE {like} INCLUDING ALL)")
        work = [([uuid4() for _ in range(BATCH)], [b"x" * 700] * BATCH) for _ in range(batches)]
        await connection.execute(_STATEMENT, *work.pop())
        began = time.perf_counter()
        for ids, given in work:
            await connection.execute(_STATEMENT, ids, given)
        return len(work) * BATCH / (time.perf_counter() - began)
    finally:
        await _drop(connection)
        await connection.close()


async def _drop(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    for name in _COPIES:
        await connection.execute(f"DROP TABLE IF EXISTS app.raw_{name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--batches", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps({"rate": uvloop.run(rate(given.state, given.batches))}))
