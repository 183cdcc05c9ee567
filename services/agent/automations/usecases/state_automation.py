"""The console is told how it stands with an automation, whenever that is not what it was told last."""

from datetime import datetime

from asyncpg import Record

from schemas.agent.v1 import AutomationStated
from services.agent.automations import store
from services.agent.automations.store import Place, State
from shared.db import Tx

STATES: dict[str, State] = {"active": "active", "paused": "paused", "ended": "ended", "waiting": "paused"}
GONE = "it is not there any more"


def is_stated(place: Place, task: Record | None) -> bool:
    """Whether there is nothing to say of it: as it was said last, not there yet, or its last time has come and is not over."""
    if task is None:
        return place.task_id is None
    waits = task["state"] == "ended" and task["busy"]
    return waits or (place.state, place.reason, place.next_at) == _stand(task)


def _stand(task: Record | None) -> tuple[State, str, datetime | None]:
    """state, reason, next_at."""
    if task is None:
        return "ended", GONE, None
    return STATES[task["state"]], " ".join(str(task["reason"])[:400].split()), task["next_at"]


async def state_automation(tx: Tx, seen: Place, at: datetime) -> bool:
    """False when there is nothing to say. An ended one has no delegation here any more. The transaction acts for the owner."""
    place = await store.hold_place(tx, seen.card_id)
    task = None if place is None else await store.task_of(tx, place.owner, place.card_id)
    if place is None or is_stated(place, task):
        return False
    state, reason, next_at = _stand(task)
    task_id = place.task_id if task is None else task["task_id"]
    digest = place.instruction_hash if task is None else task["instruction_hash"]
    assert task_id is not None and digest is not None, "it was stated before"
    version = await store.put_place(tx, place.card_id, state, reason, next_at, task_id, digest)
    said = AutomationStated(
        task_id=task_id, card_id=place.card_id, owner=place.owner, instruction_hash=digest, state=state, reason=reason,
        zone=task["zone"] if task is not None else "UTC", next_at=next_at, at=at, version=version,
    )  # fmt: skip
    tx.stage("automation.stated", said, key=f"automation:{task_id}", version=version)
    if state == "ended":
        await store.drop_delegation(tx, place.owner, place.card_id)
    return True
