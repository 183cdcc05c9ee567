"""Publish what was approved for a time that has come: the approved revision, or nothing."""

from uuid import UUID

from asyncpg import Record

from schemas.model import Actor
from schemas.statements import Signed
from services.bridge import store
from services.bridge.domain import publish, turn_down
from services.bridge.gate import Gate, revoked
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import tell_moves
from shared.clock import now
from shared.db import Tx


async def publish_due(tx: Tx, item_id: UUID, revision: int, gate: Gate) -> bool:
    """Publish one scheduled revision; False when it has to wait because publication is frozen."""
    await store.lock_gate(tx)
    found = await store.present(tx, item_id, revision)
    if found.item is None or found.item.scheduled != revision:
        return True  # withdrawn or superseded since it was read
    if found.rules.switches["publication_mode"] == "frozen":
        return False
    decision = await store.approval(tx, item_id, revision)
    if decision["key_id"] in revoked(found.rules.keys):
        await _turn_down(tx, found, decision)
    else:
        await _publish(tx, found, decision, gate)
    return True


async def _publish(tx: Tx, found: store.Present, decision: Record, gate: Gate) -> None:
    assert found.item is not None and found.revision is not None
    step, revision, at = Step(tx), found.revision, now()
    signed = Signed(payload=decision["statement"], signature=decision["signature"], key_id=decision["key_id"])
    item, moves = publish(found.item, revision.revision)
    sealed = gate.entry(
        found.rules.head, "publication", signed, at, item.item_id, revision.revision, revision.content_hash
    )
    append_entry(step, sealed, revision.content, decision["person_id"])
    tell_moves(
        step, item, moves, by=_decider(decision), reason=decision["reason"], at=at, signed=signed, seq=sealed.seq
    )
    step.writes.save(item, revision)
    await step.done()


async def _turn_down(tx: Tx, found: store.Present, decision: Record) -> None:
    assert found.item is not None and found.revision is not None
    step = Step(tx)
    item, moves = turn_down(found.item)
    lock = Actor(id="bridge", name="the lock", via="service")
    tell_moves(step, item, moves, by=lock, reason="the key that signed the approval was revoked", at=now())
    step.writes.save(item, found.revision)
    await step.done()


def _decider(decision: Record) -> Actor:
    return Actor.model_validate({"id": decision["person_id"], "name": decision["person_name"], "via": decision["via"]})
