"""A decision key is added or revoked: an entry of the gate's log, so that the site stops accepting a revoked key too (S6)."""

from schemas.console.v1 import KeyChanged
from schemas.statements import KeyChange
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import judge_opening
from services.bridge.usecases.record_change import enter_key
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
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
    enter_key(step, data.statement, data.opening, change, rules, gate)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


def _judge(event: Received[KeyChanged], change: KeyChange, keys: DecisionKeys, rules: store.Rules) -> Refusal | None:
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot change keys")
    return judge_opening(change.decider, event.data.opening) or keys.judge_change(change, rules.keys)
