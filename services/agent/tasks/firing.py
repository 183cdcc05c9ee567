"""One batch of due tasks: read, planned, fired. Two questions to the database, and no transaction is open while Python thinks: whoever is frozen holds nothing."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from asyncpg import Record

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import TaskKind
from services.agent.tasks.planning import Due, Plan, plan
from services.agent.tasks.rows import read_rule
from shared.db import Database
from shared.errors import Refused
from shared.schedules.domain import Occurrence

log = structlog.get_logger()
BATCH = 500
LOOK_AT_HELD = timedelta(seconds=5)
LOOK_AT_UNREADABLE = timedelta(hours=1)
BREATHE_EVERY = 50
"""Plans after which others get a turn."""


@dataclass(frozen=True)
class Fired:
    """A time that came, and its run is durable."""

    owner: Owner
    task_id: UUID
    kind: TaskKind
    nominal_at: datetime


async def fire_due(db: Database, fence: int, worker: str) -> tuple[int, list[Fired]]:
    """How many tasks were due, up to BATCH, and what fired of them. Conflict when the lease has moved on."""
    async with db.reading() as tx:
        rows = await store.due_now(tx, BATCH)
    if not rows:
        return 0, []
    plans = await _plans(rows)
    async with db.reading() as tx:
        fired = await store.fire(tx, fence, worker, [*_task_columns(rows, plans), *_run_columns(plans)])
    return len(rows), [_fired(rows[each["place"] - 1], each["nominal_at"]) for each in fired]


async def _plans(rows: Sequence[Record]) -> list[Plan | None]:
    found: list[Plan | None] = []
    for number, row in enumerate(rows, 1):
        found.append(None if row["kind"] is None else _plan(row))
        if not number % BREATHE_EVERY:
            await asyncio.sleep(0)
    return found


def _plan(row: Record) -> Plan:
    """What cannot be read (a zone that the machine does not know any more) stays as it is, and is looked at again later."""
    promised = Occurrence(row["next_at"], row["next_note"])
    try:
        due = Due(
            read_rule(row["rule"]), row["zone"], promised, row["misfire"], row["window_s"], row["overlap"],
            one_by_one=row["kind"] == "automation", busy=row["busy"], held=row["held"],
        )  # fmt: skip
        return plan(due, row["looked_at"])
    except (ValueError, Refused) as error:
        log.error("task.unreadable", task=str(row["task_id"]), error=repr(error))
        return Plan((), promised, unreadable=True)


def _task_columns(rows: Sequence[Record], plans: Sequence[Plan | None]) -> list[list[Any]]:
    """One value for each task: whose, which, what was read, and what comes next."""
    read = [[row[name] for row in rows] for name in ("owner_kind", "owner_id", "task_id", "revision", "next_at")]
    nexts = [each.next if each else None for each in plans]
    return [
        *read,
        [each.at if each else None for each in nexts],
        [each.note if each else "" for each in nexts],
        [each is not None and each.hold for each in plans],
        [_look(row, each) for row, each in zip(rows, plans, strict=True)],
    ]


def _look(row: Record, planned: Plan | None) -> datetime | None:
    """When to look at it again, if not at its next time."""
    if planned is None or not (planned.hold or planned.unreadable):
        return None
    at: datetime = row["looked_at"]
    return at + (LOOK_AT_UNREADABLE if planned.unreadable else LOOK_AT_HELD)


def _run_columns(plans: Iterable[Plan | None]) -> list[list[Any]]:
    """One value for each run: of which task (counted from 1), which time, and what became of it."""
    runs = [(place, run) for place, each in enumerate(plans, 1) if each for run in each.runs]
    return [
        [place for place, _ in runs],
        [run.nominal_at for _, run in runs],
        [run.what for _, run in runs],
        [run.reason for _, run in runs],
        [run.note for _, run in runs],
        [run.count for _, run in runs],
        [run.until for _, run in runs],
    ]


def _fired(row: Record, nominal_at: datetime) -> Fired:
    return Fired(Owner(kind=row["owner_kind"], id=row["owner_id"]), row["task_id"], row["kind"], nominal_at)
