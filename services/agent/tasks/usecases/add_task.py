"""A task begins: its row, and when the loop looks at it."""

from datetime import datetime
from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import MOST_TASKS, Task, Wanted
from services.agent.tasks.rows import new_row
from shared.db import Tx
from shared.errors import Refused
from shared.schedules.calendar import next_after


async def add_task(tx: Tx, owner: Owner, task_id: UUID, wanted: Wanted, at: datetime) -> Task:
    """Refused when nothing comes of its schedule, and when there are too many."""
    first = next_after(wanted.when.rule, wanted.when.zone, at)
    if first is None:
        raise Refused("That time is over: nothing comes of this schedule. Name a time to come.", code="past")
    await store.lock(tx, owner)
    if await store.count_open(tx, owner) >= MOST_TASKS:
        raise Refused(
            f"There can be {MOST_TASKS} tasks of one person at a time. Delete some that are not needed.", code="tasks"
        )
    task = await store.add_task(tx, owner, new_row(task_id, wanted, first))
    await store.put_due(tx, owner, task)
    return task
