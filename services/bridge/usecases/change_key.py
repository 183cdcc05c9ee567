"""A decision key is added or revoked: an entry of the gate's log, so that the site stops accepting a revoked key too (S6)."""

from schemas.bridge.v1 import KeyApplied
from schemas.console.v1 import KeyChanged
from schemas.statements import KeyChange
from services.bridge import store
from services.bridge.core_tables import decision_keys
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import judge_opening
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import person, signed_row
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
from shared.clock import now
from shared.db import Tx


async def change_key(tx: Tx, event: Received[KeyChanged], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: the key's row, its entry in the gate's log, and `key.applied`. From its commit on the change counts."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    rules = await store.rules(tx)
    change = keys.verify(data.statement, KeyChange, rules.keys)
    refusal = change if isinstance(change, Refusal) else _judge(event, change, keys, rules)
    if refusal is not None or isinstance(change, Refusal):
        assert refusal is not None
        await refuse_decision(step, refusal, data.statement)
        return
    what = {"action": change.action, "subject_key_id": change.subject_key_id, "public_key": change.subject_public_key}
    step.writes.add(decision_keys, what | signed_row(data.statement, data.opening))
    at, by = now(), person(data.opening)
    sealed = gate.entry(rules.head, "key", data.statement, at)
    append_entry(step, sealed, None, by.id)
    applied = KeyApplied(
        action=change.action,
        key_id=change.subject_key_id,
        statement_hash=data.statement.hash,
        gate_seq=sealed.seq,
        by=by,
        reason=data.opening.reason,
        at=at,
    )
    step.tell("key.applied", applied, key="keys", version=len(rules.keys) + 1, actor=by.id, decided_by=by.id)
    await step.done(decided_by=by.id, signature=data.statement.signature)


def _judge(event: Received[KeyChanged], change: KeyChange, keys: DecisionKeys, rules: store.Rules) -> Refusal | None:
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot change keys")
    return judge_opening(change.decider, event.data.opening) or keys.judge_change(change, rules.keys)
