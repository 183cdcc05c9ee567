"""BU-05: a forgotten transaction must not make the relay slower and slower, and somebody is told which one it is."""

import asyncio
import statistics
import time
from uuid import uuid4

import pytest

from shared.health import Health
from shared.outbox import sweep
from shared.testing.servers import Servers
from tests.parts.lock import Lock, running_lock

pytestmark = [pytest.mark.timeout(600)]
PROBES = 15


async def delay(lock: Lock) -> float:
    """Median seconds from staging one event to its effect two hops away."""
    found = []
    for _ in range(PROBES):
        key, began = f"probe-{uuid4()}", time.perf_counter()
        await lock.stage(key, [1])
        await lock.until(key, 1)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


async def arrived(lock: Lock, key: str, rows: int) -> None:
    """Wait until the console has all of them."""
    async with asyncio.timeout(300):
        while await effects(lock, key) < rows:
            await asyncio.sleep(0.1)


async def effects(lock: Lock, key: str) -> int:
    async with lock.console.db.reading() as tx:
        return int(await tx.raw.fetchval("SELECT count(*) FROM app.effects WHERE key = $1", key))


async def run_through(servers: Servers, rows: int) -> None:
    async with running_lock(servers) as lock:
        before = await delay(lock)
        idle = await lock.site.db.connect()
        bridging = await lock.bridge.db.connect()
        try:
            for connection in (idle, bridging):
                await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                await connection.fetch("SELECT count(*) FROM app.todo")
            key = f"many-{uuid4()}"
            for start in range(1, rows + 1, 500):
                await lock.stage(key, range(start, min(start + 500, rows + 1)))
            await arrived(lock, key, rows)
            after = await delay(lock)
        finally:
            for connection in (idle, bridging):
                await connection.close()
    assert after < before * 2 + 0.02, f"{before * 1000:.1f} ms before, {after * 1000:.1f} ms after {rows} rows"


async def test_bu_05_ten_thousand_rows_beside_an_idle_transaction(servers: Servers) -> None:
    await run_through(servers, 10_000)


@pytest.mark.long
async def test_bu_05_a_hundred_thousand_rows_beside_an_idle_transaction(servers: Servers) -> None:
    await run_through(servers, 100_000)


async def test_bu_05_health_names_the_old_transaction(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "OLD_TRANSACTION", 0)
    async with running_lock(servers) as lock:
        forgotten = await lock.site.db.connect()
        health = Health("site")
        watching = sweep.Sweep(lock.site.db, health, servers.state)
        try:
            await forgotten.execute("BEGIN")
            pid = await forgotten.fetchval("SELECT pg_backend_pid()")
            await watching.start()
            async with asyncio.timeout(10):
                while "old_transactions" not in health.conditions:
                    await asyncio.sleep(0.02)
            condition = health.conditions["old_transactions"]
            assert not condition.ok
            assert str(pid) in condition.detail
        finally:
            await watching.stop()
            await forgotten.close()
