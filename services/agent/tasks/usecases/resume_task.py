"""A paused task goes on with its next time; those that passed meanwhile were not missed."""

from datetime import datetime
from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import Task
from services.agent.tasks.usecases.find_task import find_open_task
from shared.db import Tx
from shared.errors import Refused
from shared.schedules.calendar import next_after


async def resume_task(tx: Tx, owner: Owner, task_id: UUID, at: datetime) -> Task:
    """Again: as it was. Refused when its time has passed."""
    task = await find_open_task(tx, owner, task_id)
    if task.state != "paused":
        return task
    first = next_after(task.rule, task.zone, at)
    if first is None:
        raise Refused(f"The time of “{task.title}” passed while it was paused. Give it another one.", code="past")
    columns = {"state": "active", "next_at": first.at, "next_note": first.note, "held": False}
    resumed = await store.change_task(tx, owner, task_id, columns)
    await store.put_due(tx, owner, resumed)
    return resumed
