"""Publish what was approved for a time that has come: the approved revision, or nothing."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.model import Actor
from schemas.statements import Decision, Signed
from services.bridge import store
from services.bridge.attachments.usecases.publish_attachments import publish_attachments
from services.bridge.domain import publish, turn_down
from services.bridge.gate import Gate, revoked
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import THE_LOCK, tell_moves
from shared.db import Tx


async def publish_due(tx: Tx, item_id: UUID, revision: int, gate: Gate, at: datetime) -> bool:
    """Publish one scheduled revision; False when it has to wait because publication is frozen."""
    await store.lock_gate(tx)
    found = await store.present(tx, item_id, revision)
    if found.item is None or found.item.scheduled != revision:
        return True  # withdrawn, undone or superseded since it was read
    row = await store.approval(tx, item_id, revision)
    decision = Decision.from_bytes(row["statement"])
    fault = _fault(found, decision, row["key_id"], at)
    if fault:
        await _turn_down(tx, found, fault, at)
        return True
    if found.rules.switches["publication_mode"] == "frozen":
        return False
    await _publish(tx, found, decision, row, gate, at)
    return True


def _fault(found: store.Present, decision: Decision, key_id: str, at: datetime) -> str | None:
    """Why the approval cannot be carried out any more."""
    assert found.revision is not None
    if key_id in revoked(found.rules.keys):
        return "the key that signed the approval was revoked"
    if decision.expire_at is not None and decision.expire_at <= at:
        return f"its time was over at {decision.expire_at:%Y-%m-%d %H:%M} UTC, before it could be published"
    if decision.content_hash != found.revision.content_hash:
        return "the revision is not the one that was approved"
    return None


async def _publish(tx: Tx, found: store.Present, decision: Decision, row: Record, gate: Gate, at: datetime) -> None:
    assert found.item is not None and found.revision is not None
    step, revision = Step(tx), found.revision
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    item, moves = publish(found.item, revision.revision, decision.expire_at)
    sealed = gate.entry(
        found.rules.head, "publication", signed, at, item.item_id, revision.revision, revision.content_hash
    )
    await publish_attachments(step, sealed, decision.attachments)
    append_entry(step, sealed, revision.content, row["person_id"])
    await tell_moves(step, item, moves, by=_decider(row), reason=row["reason"], at=at, signed=signed, seq=sealed.seq)
    step.writes.save(item, revision)
    await step.done()


async def _turn_down(tx: Tx, found: store.Present, fault: str, at: datetime) -> None:
    assert found.item is not None and found.revision is not None
    step = Step(tx)
    item, moves = turn_down(found.item)
    await tell_moves(step, item, moves, by=THE_LOCK, reason=fault, at=at)
    step.writes.save(item, found.revision)
    await step.done()


def _decider(row: Record) -> Actor:
    return Actor.model_validate({"id": row["person_id"], "name": row["person_name"], "via": row["via"]})
