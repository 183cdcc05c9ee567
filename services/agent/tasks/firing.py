"""One batch of due tasks: read, planned, fired. Two questions to the database, and no transaction is open while Python thinks: whoever is frozen holds nothing."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from asyncpg import Record

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import TaskKind
from services.agent.tasks.planning import Due, Plan, Planned, plan
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
        fired = await store.fire(tx, fence, worker, batch_of(rows, plans))
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


def batch_of(rows: Sequence[Record], plans: Sequence[Plan | None]) -> str:
    """As core.fire_tasks takes it: each owner's together, tasks by their place from 1 on."""
    owners: dict[tuple[str, str], dict[str, Any]] = {}
    for place, (row, planned) in enumerate(zip(rows, plans, strict=True), 1):
        whose = row["owner_kind"], row["owner_id"]
        its = owners.setdefault(whose, {"kind": whose[0], "name": whose[1], "tasks": [], "runs": []})
        its["tasks"].append(_task(place, row, planned))
        its["runs"] += [_run(place, run) for run in planned.runs] if planned else []
    return json.dumps(list(owners.values()), default=str)


def _task(place: int, row: Record, planned: Plan | None) -> dict[str, Any]:
    """What was read of it, and what comes next. `look`: when to look at it again, if not at its next time."""
    found: dict[str, Any] = {
        "place": place,
        "task": row["task_id"],
        "revision": row["revision"],
        "before": row["next_at"],
    }
    if planned is None:
        return found
    comes = planned.next
    held = LOOK_AT_UNREADABLE if planned.unreadable else LOOK_AT_HELD if planned.hold else None
    return found | {
        "next": comes.at if comes else None,
        "note": comes.note if comes else "",
        "hold": planned.hold,
        "look": row["looked_at"] + held if held else None,
    }


def _run(place: int, run: Planned) -> dict[str, Any]:
    return {
        "place": place,
        "nominal": run.nominal_at,
        "what": run.what,
        "reason": run.reason,
        "note": run.note,
        "count": run.count,
        "until": run.until,
    }


def _fired(row: Record, nominal_at: datetime) -> Fired:
    return Fired(Owner(kind=row["owner_kind"], id=row["owner_id"]), row["task_id"], row["kind"], nominal_at)
