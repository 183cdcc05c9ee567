"""What pages and commands show of jobs: which rows would go, as they are now."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.console.apps.views import find_app, list_apps
from services.console.jobs import store
from services.console.jobs.domain import PLATFORM, Row, read_job
from services.console.jobs.rows import store as rows
from services.console.jobs.rows.domain import read_conditions
from services.console.jobs.rows.targets import OWN, find_target
from shared.db import Tx
from shared.errors import NotFound

COLUMNS = 8


@dataclass(frozen=True)
class Going:
    """A page of rows that would go: the names of some columns, and their texts; `more`: whether others follow."""

    columns: list[str]
    rows: list[dict[str, Any]]
    more: bool


async def get_job(tx: Tx, job_id: UUID) -> Row:
    """NotFound when there is none."""
    found = await store.one(tx, job_id)
    if found is None:
        raise NotFound("There is no such job; `schleuse jobs list` shows them.", code="job")
    return found


async def going(tx: Tx, job: Row, at: datetime, limit: int, offset: int = 0) -> Going:
    """The rows that fit the conditions at that instant, by key. Refused or NotFound as a dry run."""
    wanted = read_job(job["job"])
    app = None if wanted.app == PLATFORM else await find_app(tx, wanted.app)
    target = find_target(app, wanted.app, wanted.table)
    held = rows.held_by(await rows.references(tx, target))
    found = await rows.listed(tx, target, read_conditions(wanted, target, at), held, limit + 1, offset)
    asked = [each.column for each in wanted.conditions]
    names = list(dict.fromkeys([*target.key, *asked, *target.columns]))[:COLUMNS]
    return Going(names, [json.loads(row["data"]) for row in found[:limit]], len(found) > limit)


async def kept(tx: Tx, run_id: UUID, at: datetime, limit: int) -> tuple[Sequence[Row], int]:
    """The first rows of a run that can be restored, and how many there are."""
    return await rows.trashed(tx, run_id, at, limit), await rows.count_trashed(tx, run_id, at)


async def choices(tx: Tx) -> list[str]:
    """`app.table` of every table that a job may be about."""
    apps = [f"{app.slug}.{each.name}" for app in await list_apps(tx) for each in app.declaration.tables]
    return apps + [f"{PLATFORM}.{each}" for each in OWN]
