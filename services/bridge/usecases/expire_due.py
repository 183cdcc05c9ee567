"""Take down what was approved until a time that has come. The site does so by itself, from the same signed statement."""

from datetime import datetime
from uuid import UUID

from services.bridge import store
from services.bridge.domain import expire
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import THE_LOCK, tell_moves
from shared.db import Tx

REASON = "its time is over"


async def expire_due(tx: Tx, item_id: UUID, at: datetime) -> None:
    """The published revision is withdrawn by the lock. Not an entry of the gate's log: the publication's entry says when it ends."""
    await store.lock_gate(tx)
    found = await store.present(tx, item_id)
    if found.item is None or found.revision is None or found.item.expire_at is None or found.item.expire_at > at:
        return  # withdrawn or replaced since it was read
    step = Step(tx)
    item, moves = expire(found.item)
    await tell_moves(step, item, moves, by=THE_LOCK, reason=REASON, at=at)
    step.writes.save(item, found.revision)
    await step.done()
