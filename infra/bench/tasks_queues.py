"""Two queues on the same Postgres, with work that does nothing: what the loop of tasks is measured beside. Each in a database of its own, gone afterwards.

Both are for tests only; without them their figures are None.
"""

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import session
from infra.postgres.settings import SUPERUSER

MOST = 500
"""Jobs that either takes in hand at once, as the loop does."""


@asynccontextmanager
async def _database(state: Path, name: str) -> AsyncIterator[str]:
    async with session(state, SUPERUSER, "postgres") as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {name}")
        await connection.execute(f"CREATE DATABASE {name}")
        try:
            yield name
        finally:
            await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def measure_procrastinate(state: Path, _: str, __: int, count: int) -> dict[str, Any]:
    if find_spec("procrastinate") is None:
        return {"procrastinate_per_s": None}
    import procrastinate  # noqa: PLC0415 - for benches only

    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    async with _database(state, "bench_procrastinate") as name:
        connector = procrastinate.PsycopgConnector(
            conninfo=f"host={state / 'run' / 'pg'} user={SUPERUSER} dbname={name}", min_size=4, max_size=10
        )
        queue = procrastinate.App(connector=connector)

        @queue.task(name="nothing")
        async def nothing() -> None: ...

        async with queue.open_async():
            await queue.schema_manager.apply_schema_async()
            await nothing.batch_defer_async(*({} for _ in range(count)))
            began = time.perf_counter()
            await queue.run_worker_async(
                wait=False, concurrency=MOST, listen_notify=False, install_signal_handlers=False, delete_jobs="never"
            )
            took = time.perf_counter() - began
        return {"procrastinate_per_s": round(count / took), "procrastinate_jobs": count}


async def measure_pgqueuer(state: Path, _: str, __: int, count: int) -> dict[str, Any]:
    if find_spec("pgqueuer") is None:
        return {"pgqueuer_per_s": None}
    from pgqueuer import AsyncpgDriver, Job, PgQueuer  # noqa: PLC0415 - for benches only
    from pgqueuer.types import QueueExecutionMode  # noqa: PLC0415

    logging.getLogger("pgqueuer").setLevel(logging.ERROR)
    async with _database(state, "bench_pgqueuer") as name:
        connection = await asyncpg.connect(host=str(state / "run" / "pg"), user=SUPERUSER, database=name)
        try:
            queue = PgQueuer(AsyncpgDriver(connection))
            await queue.qm.queries.install()

            @queue.entrypoint("nothing")
            async def nothing(job: Job) -> None: ...

            for first in range(0, count, 1000):
                await queue.qm.queries.enqueue(["nothing"] * min(1000, count - first), [None] * min(1000, count - first), [0] * min(1000, count - first))  # fmt: skip
            began = time.perf_counter()
            await queue.run(batch_size=MOST, mode=QueueExecutionMode.drain)
            took = time.perf_counter() - began
        finally:
            await connection.close()
        return {"pgqueuer_per_s": round(count / took), "pgqueuer_jobs": count}
