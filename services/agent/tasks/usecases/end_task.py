"""A task is over for good, with a reason; what was queued is void, its history stays."""

from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.usecases.find_task import find_task
from shared.db import Tx


async def end_task(tx: Tx, owner: Owner, task_id: UUID, reason: str) -> bool:
    """False when it was over already."""
    task = await find_task(tx, owner, task_id, lock=True)
    if task.state == "ended":
        return False
    columns = {"state": "ended", "next_at": None, "next_note": "", "held": False, "reason": reason}
    await store.put_due(tx, owner, await store.change_task(tx, owner, task_id, columns))
    return True
