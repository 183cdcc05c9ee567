"""Exactly which rows would go now, without touching one: how many, how many bytes, which keys; and which stay because they have no date (rule 13)."""

from datetime import datetime

import asyncpg

from services.console.jobs import store
from services.console.jobs.domain import DryRun, Row, read_job
from services.console.jobs.rows import store as rows
from services.console.jobs.rows.domain import read_conditions
from services.console.jobs.usecases.find_target import check_held, find_target
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id

SLOW = (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError)


async def dry_run_job(tx: Tx, job: Row, by_name: str) -> DryRun:
    """What it found, and it is kept. Figures that could not be had are None, with the reason (rule 30)."""
    at = now()
    try:
        async with tx.savepoint():
            found = await count_rows(tx, job, at)
    except (Refused, NotFound) as error:
        found = DryRun(None, None, None, None, "", error.message)
    except SLOW:
        found = DryRun(None, None, None, None, "", "Counting took too long and was given up.")
    await store.add_dry_run(tx, new_id(), job, at, found, by_name)
    return found


async def count_rows(tx: Tx, job: Row, at: datetime) -> DryRun:
    wanted = read_job(job["job"])
    target = await find_target(tx, wanted.app, wanted.table)
    held = await check_held(tx, target)
    found = await rows.count(tx, target, read_conditions(wanted, target, at), held)
    return DryRun(found["rows"], found["bytes"], found["undated"], found["referenced"], found["keys_hash"])
