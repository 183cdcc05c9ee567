"""A submission that names attachments waits until all their bytes are there; one that names none takes the place of those that still wait."""

from collections.abc import Sequence
from typing import Any

from asyncpg import Record

from schemas.bridge.v1 import SubmissionRefused
from services.bridge.attachments import store
from services.bridge.attachments.usecases.read_held import read_held
from services.bridge.usecases.inspect_item import Inspected
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.tell_proposer import tell_answered
from shared.bus import Received
from shared.clock import now
from shared.db import Tx

REPLACED = "a newer submission of this item came before all attachments of this one had arrived"


async def hold_submission(tx: Tx, event: Received[Any]) -> bool:
    """Whether it waits now. Older ones of the same item are given up: an old text must not pass a newer one."""
    found, data = event.prepared, event.data
    assert isinstance(found, Inspected)
    if found.content is None:
        return False
    await refuse_held(tx, await store.drop_older(tx, data.item_id, data.submission_id), REPLACED)
    if not found.content.attachments:
        return False
    hashes = sorted({each.hash for each in found.content.attachments})
    await store.hold(tx, data.submission_id, data.item_id, hashes, event)
    await Step(tx, event).done("queued", reason=f"waits for its {len(hashes)} attachments")
    return True


async def refuse_held(tx: Tx, rows: Sequence[Record], reason: str) -> None:
    """They are no longer held: whoever submitted them is told why."""
    for row in rows:
        event = read_held(row)
        step, data = Step(tx, event), event.data
        fact = SubmissionRefused(
            submission_id=data.submission_id, item_id=data.item_id, reason=reason, findings=(), at=now()
        )
        step.tell("submission.refused", fact, key=f"refused:{event.event_id}", version=1, about=str(data.item_id))
        if step.from_agent:
            tell_answered(step, data, "refused", 0, fact.at, reason)
        await store.clear(tx, data.submission_id)
        await step.done("refused", reason=reason)
