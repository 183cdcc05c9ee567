"""What became of a run: how many rows went, what stays and why. Output and error of every run are kept (rule 31)."""

from uuid import UUID

from services.console.jobs import store
from services.console.jobs.domain import LOST_AFTER, Row, RunState
from services.console.jobs.usecases.start_run import Started
from services.console.jobs.usecases.stop_job import stop_job, tell
from shared.clock import now
from shared.db import Tx


async def end_run(tx: Tx, run: Started, holder: str, state: RunState, error: str = "") -> None:
    """`stopped` takes the job out of service until a person has looked at it."""
    assert run.run_id, "a run that was started"
    row = await store.run(tx, run.run_id, lock=True)
    if row is None or row["state"] != "running":
        return
    await store.end_run(tx, run.run_id, holder, state, now(), said(row, state), error)
    if state == "stopped":
        await stop_job(tx, run.job, error)
    elif state == "failed":
        await tell(tx, run.job, f"A run of the cleanup job “{run.job['name']}” failed: {error}")


def said(row: Row, state: RunState) -> str:
    """Its output."""
    parts = [f"{row['deleted']:,} of {row['found']:,} rows deleted, {row['bytes']:,} bytes" if row["found"] is not None else f"{row['deleted']:,} rows deleted"]  # fmt: skip
    if row["undated"]:
        parts.append(f"{row['undated']:,} rows without a date stayed")
    if row["referenced"]:
        parts.append(f"{row['referenced']:,} rows stayed because others refer to them")
    if state == "partly":
        parts.append("the time was over, the rest goes at the next run")
    return "; ".join(parts) + "."


async def end_lost_runs(tx: Tx) -> list[UUID]:
    """Runs of processes that are gone."""
    at = now()
    return [row["run_id"] for row in await store.end_lost(tx, at - LOST_AFTER, at)]
