"""Nothing of a task comes until it is resumed; what was queued is void (rule 9)."""

from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import Task
from services.agent.tasks.usecases.find_task import find_open_task
from shared.db import Tx


async def pause_task(tx: Tx, owner: Owner, task_id: UUID) -> Task:
    """Again: as it was."""
    task = await find_open_task(tx, owner, task_id)
    if task.state != "active":
        return task
    columns = {"state": "paused", "next_at": None, "next_note": "", "held": False}
    paused = await store.change_task(tx, owner, task_id, columns)
    await store.put_due(tx, owner, paused)
    return paused
