"""The console is told how it stands with an automation, whenever that is not what it was told last."""

from datetime import datetime
from typing import Any

from schemas.agent.v1 import AutomationStated
from services.agent.automations import store
from services.agent.automations.store import Place, State
from shared.db import Tx

STATES: dict[str, State] = {"active": "active", "paused": "paused", "ended": "ended", "waiting": "paused"}
GONE = "it is not there any more"


async def state_automation(tx: Tx, seen: Place, task: Any | None, at: datetime) -> bool:
    """False when there is nothing to say. `task`: its row, None when it is gone. An ended one has no delegation here any more. The transaction acts for the owner."""
    place = await store.hold_place(tx, seen.card_id)
    if place is None or (task is None and place.task_id is None):
        return False
    if task is not None and task["state"] == "ended" and task["busy"]:
        return False  # its last time has come, and is not over yet
    state: State = "ended" if task is None else STATES[task["state"]]
    reason = GONE if task is None else str(task["reason"])[:400]
    next_at = None if task is None else task["next_at"]
    if (place.state, place.reason, place.next_at) == (state, reason, next_at):
        return False
    task_id = place.task_id if task is None else task["task_id"]
    digest = place.instruction_hash if task is None else task["instruction_hash"]
    assert task_id is not None and digest is not None, "it was stated before"
    version = await store.put_place(tx, place.card_id, state, reason, next_at, task_id, digest)
    said = AutomationStated(
        task_id=task_id, card_id=place.card_id, owner=place.owner, instruction_hash=digest, state=state, reason=" ".join(reason.split()),
        zone=task["zone"] if task is not None else "UTC", next_at=next_at, at=at, version=version,
    )  # fmt: skip
    tx.stage("automation.stated", said, key=f"automation:{task_id}", version=version)
    if state == "ended":
        await store.drop_delegation(tx, place.owner, place.card_id)
    return True
