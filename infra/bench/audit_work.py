"""The call audit at work: appends, verifying, searching. Runs as the connectors' OS user, on their database, with the code that they run.

`python -m infra.bench.audit_work --state DIR --appends N --entries M` prints {"audit_appends_per_s", "audit_verify_per_s", "audit_search_ms", …}.
With M above what there is, entries are added without telling anybody: for a throwaway stack.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import uvloop

from services.connectors.audit import store
from services.connectors.audit.domain import Entry, Head, Note, make_entry
from services.connectors.audit.log import AuditLog
from services.connectors.audit.query import read_query
from services.connectors.audit.usecases.search_audit import search_audit
from services.connectors.audit.usecases.verify_audit import verify_audit
from shared.clock import now
from shared.db import Database
from shared.health import Health
from shared.ids import new_id
from shared.settings import Settings
from shared.signing import PublicKeys

AT_ONCE = 200
BATCH = 500
TRIES = 15
FAILED = 0.01


async def work(state: Path, appends: int, entries: int) -> dict[str, Any]:
    settings = Settings.load("connectors", state)
    db = Database(settings, pool_size=2)
    await db.start()
    try:
        rate = await append(db, appends)
        await fill(db, entries)
        await _settled(db)
        verified = await verify_audit(db, PublicKeys.load(settings.public_keys))
        if not verified["ok"]:
            raise SystemExit(f"the audit does not hold: entry {verified['first_bad']}: {verified['reason']}")
        searches = await search(db)
    finally:
        await db.stop()
    return {
        "audit_appends_per_s": round(rate),
        "audit_verify_per_s": round(verified["entries"] / verified["seconds"]),
        "audit_search_ms": round(max(searches.values()), 1),
        "audit_entries": verified["entries"],
        "audit_searches_ms": searches,
    }


def note(rng: random.Random) -> Note:
    """One of many connectors, owners and targets; one in a hundred went badly."""
    bad = rng.random() < FAILED
    connector = f"c{min(int(rng.expovariate(0.4)), 30)}"
    return Note(
        new_id(), rng.choice(("agent", "agent", "console", "site")), "chat", "failed" if bad else "ok", f"user:{rng.randrange(2000)}",
        connector, f"https://{rng.randrange(5000)}.example/v1/chat", "503" if bad else "200", f"agent/{connector}/key v1", "",
        rng.randrange(2000), rng.randrange(9000), rng.randrange(90_000), rng.randrange(900), rng.randrange(900), f"{rng.getrandbits(128):032x}",
    )  # fmt: skip


async def append(db: Database, count: int) -> float:
    """Entries a second, each caller waiting until its own is on disk, and told to the bus like any other."""
    log, rng = AuditLog(db, Health("connectors")), random.Random(1)  # noqa: S311 - made-up calls
    await log.start()

    async def caller(number: int) -> None:
        for _ in range(number):
            await log.append(note(rng))

    began = time.perf_counter()
    await asyncio.gather(*(caller(count // AT_ONCE) for _ in range(AT_ONCE)))
    took = time.perf_counter() - began
    await log.stop()
    return count // AT_ONCE * AT_ONCE / took


async def fill(db: Database, count: int) -> None:
    """Until there are so many."""
    rng = random.Random(2)  # noqa: S311 - made-up calls
    while True:
        async with db.transaction() as tx:
            head = await store.lock_audit(tx)
            missing = min(count - head.seq - 1, BATCH)
            if missing <= 0:
                return
            await store.add_entries(tx, _following(head, missing, rng))


def _following(head: Head, count: int, rng: random.Random) -> list[Entry]:
    found, at = [], now()
    for _ in range(count):
        found.append(make_entry(note(rng), head, new_id(), at))
        head = Head(found[-1].seq, found[-1].hash)
    return found


async def _settled(db: Database) -> None:
    """The owner of the table analyses it, in its own time; wait until it has, or until it is clear that it will not."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        async with db.reading() as tx:
            done = await tx.raw.fetchval("SELECT n_mod_since_analyze < n_live_tup / 5 FROM pg_stat_user_tables WHERE relname = 'call_audit'")  # fmt: skip
        if done:
            return
        await asyncio.sleep(1)


async def search(db: Database) -> dict[str, float]:
    """Milliseconds by filter, the median of some: the newest fifty and how many there are, as page and command ask."""
    async with db.reading() as tx:
        row = await tx.raw.fetchrow(
            "SELECT call_id, noted_at, trace_id FROM core.call_audit ORDER BY seq LIMIT 1 OFFSET 500"
        )
    assert row is not None
    call, at = UUID(str(row["call_id"])), row["noted_at"]
    asked: dict[str, dict[str, Any]] = {
        "nothing": {},
        "connector": {"connector": "c0"},
        "rare connector": {"connector": "c28"},
        "actor": {"asker": "site"},
        "owner": {"on_behalf_of": "user:77"},
        "target": {"target": "https://4321.example/"},
        "status": {"status": "503"},
        "refused or failed": {"outcome": "bad"},
        "a minute": {"since": at.isoformat(), "until": (at + timedelta(minutes=1)).isoformat()},
        "actor, status and time": {"asker": "console", "status": "503", "since": at.isoformat()},
        "one call": {"call_id": str(call)},
        "one trace": {"trace_id": row["trace_id"]},
    }
    return {name: await _median(db, query) for name, query in asked.items()}


async def _median(db: Database, asked: dict[str, Any]) -> float:
    query, times = read_query(asked), []
    for _ in range(TRIES):
        began = time.perf_counter()
        await search_audit(db, query)
        times.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(times), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--appends", type=int, required=True)
    parser.add_argument("--entries", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps(uvloop.run(work(given.state, given.appends, given.entries))))
