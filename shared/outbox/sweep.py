"""Retention of delivery tables in bounded steps, the figures that matter, and a warning about old transactions."""

import asyncio
import shutil
from pathlib import Path

import structlog

from shared.db.engine import Database
from shared.errors import Transient
from shared.health import Health
from shared.tasks import spawn

log = structlog.get_logger()

EVERY = 5.0
CLEAN_EVERY = 300.0
STEP = 5000
STEPS = 20
OLD_TRANSACTION = 300
LOW_BYTES = 32 * 1024**2
"""Free space below which writing is about to fail or fails already."""
_CLEAN = {
    "outbox": """DELETE FROM app.outbox WHERE position IN (
        SELECT o.position FROM app.outbox o WHERE o.occurred_at < now() - interval '7 days'
           AND NOT EXISTS (SELECT FROM app.todo t WHERE t.position = o.position) LIMIT $1)""",
    "sent": "DELETE FROM app.sent WHERE batch IN (SELECT batch FROM app.sent WHERE at < now() - interval '8 days' LIMIT $1)",
    "inbox": """DELETE FROM app.inbox WHERE (reader, event_id) IN (
        SELECT reader, event_id FROM app.inbox WHERE handled_at < now() - interval '31 days' LIMIT $1)""",
}
_FIGURES = """
SELECT (SELECT count(*) FROM (SELECT FROM app.todo LIMIT 100000) t) AS unsent,
       (SELECT extract(epoch FROM clock_timestamp() - occurred_at) FROM app.outbox
         WHERE position = (SELECT min(position) FROM app.todo)) AS oldest,
       (SELECT count(*) FROM app.parked WHERE resolved_at IS NULL) AS parked
"""
_OLD = """
SELECT pid, coalesce(application_name, '') AS who, extract(epoch FROM now() - xact_start)::bigint AS seconds
  FROM pg_stat_activity WHERE xact_start < now() - make_interval(secs => $1) AND datname = current_database()
 ORDER BY xact_start LIMIT 1
"""


class Sweep:
    """A part of every service."""

    def __init__(self, db: Database, health: Health, folder: Path) -> None:
        self._db, self._health, self._folder = db, health, folder
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="sweep")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        cleaned = clock() - CLEAN_EVERY + 30
        while True:
            self._look_at_disk()
            try:
                await self._measure()
                if clock() - cleaned > CLEAN_EVERY:
                    cleaned = clock()
                    await self._clean()
                self._health.set("database", True, "")
            except Transient as error:
                self._health.set("database", False, error.message[:200])
            await asyncio.sleep(EVERY)

    def _look_at_disk(self) -> None:
        free = shutil.disk_usage(self._folder).free
        said = f"the disk of the state directory has {free // 1024**2} MiB left; nothing can be written until there is room"
        self._health.set("disk", free >= LOW_BYTES, said if free < LOW_BYTES else "")

    async def _measure(self) -> None:
        async with self._db.reading() as tx:
            row = await tx.raw.fetchrow(_FIGURES)
            old = await tx.raw.fetchrow(_OLD, OLD_TRANSACTION)
        assert row is not None, "a row of three figures always comes"
        self._health.figures |= {
            "unsent_events": row["unsent"],
            "oldest_unsent_seconds": round(float(row["oldest"] or 0), 1),
            "parked_events": row["parked"],
        }
        self._health.set("parked", row["parked"] == 0, f"{row['parked']} events are parked" if row["parked"] else "")
        detail = f"transaction of {old['who']} (pid {old['pid']}) is open for {old['seconds']} s" if old else ""
        self._health.set("old_transactions", old is None, detail)
        if old:
            log.warning("sweep.old_transaction", detail=detail)

    async def _clean(self) -> None:
        for table, statement in _CLEAN.items():
            for _ in range(STEPS):
                async with self._db.reading() as tx:
                    done = await tx.raw.execute(statement, STEP)
                if int(done.split()[-1]) < STEP:
                    break
                log.info("sweep.cleaned", table=table, rows=STEP)
