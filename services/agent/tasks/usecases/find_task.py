"""A task of an owner, held until the transaction ends."""

from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import Task
from shared.db import Tx
from shared.errors import NotFound, Refused


async def find_task(tx: Tx, owner: Owner, task_id: UUID, *, lock: bool = False) -> Task:
    """NotFound for what is not theirs, as for what there is none of (rule 24)."""
    task = await store.get_task(tx, owner, task_id, lock=lock)
    if task is None:
        raise NotFound("There is no such task.", code="task")
    return task


async def find_open_task(tx: Tx, owner: Owner, task_id: UUID) -> Task:
    """Refused for one that is over."""
    task = await find_task(tx, owner, task_id, lock=True)
    if task.state == "ended":
        raise Refused(f"“{task.title}” is over ({task.reason}). Make a new one.", code="over")
    return task
