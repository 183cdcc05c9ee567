"""After a restore: what was taken back since the backup is taken back again, by the very statements that people signed (S6).

Each becomes a new entry of the restored log. What was published since is not invented: the caller tells what is missing.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from schemas.bridge.v1 import KeyApplied, SwitchApplied
from schemas.statements import KeyChange, Opening, Signed, Statement, SwitchSetting, Undo, Withdrawal
from schemas.text import parse_json
from services.bridge import store
from services.bridge.core_tables import decision_keys, decisions, switch_settings
from services.bridge.domain import Refusal, withdraw
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import person, signed_row, tell_moves
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature
from shared.ids import new_id

Became = Literal["withdrawn", "key", "mode", "unchanged"]
_KINDS: dict[str, type[Statement]] = {kind.PURPOSE: kind for kind in (Withdrawal, Undo, SwitchSetting, KeyChange)}


@dataclass(frozen=True)
class Told:
    """One record of a followed log."""

    statement: Signed
    opening: Opening
    kind: type[Statement]

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Told | None":
        """None for what is not replayed: publications, and what the lock took down because its time was over."""
        payload = base64.b64decode(record["statement"])
        kind = _KINDS.get(str(parse_json(payload).get("purpose")))
        if kind is None:
            return None
        signature = base64.b64decode(record["statement_signature"])
        signed = Signed(payload=payload, signature=signature, key_id=record["statement_key_id"])
        return cls(signed, Opening.model_validate(record["opening"]), kind)


async def replay_entry(tx: Tx, told: Told, keys: DecisionKeys, gate: Gate) -> Became:
    """One statement, in a transaction of its own. BadSignature when it does not count: then the log cannot be believed from there on."""
    await store.lock_gate(tx)
    rules = await store.rules(tx)
    statement = keys.verify(told.statement, told.kind, rules.keys)
    if isinstance(statement, Refusal):
        raise BadSignature(statement.reason)
    if told.opening.commitment != getattr(statement, "decider", None):
        raise BadSignature("the person named is not the one the signed statement commits to")
    match statement:
        case Withdrawal() | Undo():
            return await _withdraw(tx, told, statement.item_id, gate)
        case KeyChange():
            return await _change_key(tx, told, statement, rules, keys, gate)
        case SwitchSetting():
            return await _set_mode(tx, told, statement, rules, gate)
    return "unchanged"


async def _withdraw(tx: Tx, told: Told, item_id: UUID, gate: Gate) -> Became:
    """Whatever of the item is public, or waits for its time, goes; unless this statement had its effect already."""
    found = await store.present(tx, item_id)
    if found.item is None or found.revision is None or await store.given(tx, told.statement.hash) is not None:
        return "unchanged"
    if found.item.published is None and found.item.scheduled is None:
        return "unchanged"
    step, at, public = Step(tx), now(), found.item.published
    item, moves = withdraw(found.item)
    what = {"event_id": new_id(), "item_id": item_id, "revision": moves[0].revision, "verdict": "withdraw"}
    # by the restored item's own count: that of the statement may be used by a later decision
    what |= {"prior_version": found.item.version, "undoes": None}
    step.writes.add(decisions, what | signed_row(told.statement, told.opening))
    seq = None
    if public is not None:
        sealed = gate.entry(found.rules.head, "withdrawal", told.statement, at, item_id, public)
        append_entry(step, sealed, None, told.opening.person_id)
        seq = sealed.seq
    by, why = person(told.opening), told.opening.reason
    tell_moves(step, item, moves, by=by, reason=why, at=at, signed=told.statement, seq=seq)
    step.writes.save(item, found.revision)
    await step.done()
    return "withdrawn"


async def _change_key(
    tx: Tx, told: Told, change: KeyChange, rules: store.Rules, keys: DecisionKeys, gate: Gate
) -> Became:
    if keys.judge_change(change, rules.keys) is not None:
        return "unchanged"  # it counts already
    step, at, by = Step(tx), now(), person(told.opening)
    what = {"action": change.action, "subject_key_id": change.subject_key_id, "public_key": change.subject_public_key}
    step.writes.add(decision_keys, what | signed_row(told.statement, told.opening))
    sealed = gate.entry(rules.head, "key", told.statement, at)
    append_entry(step, sealed, None, by.id)
    applied = KeyApplied(
        action=change.action,
        key_id=change.subject_key_id,
        statement_hash=told.statement.hash,
        gate_seq=sealed.seq,
        by=by,
        reason=told.opening.reason,
        at=at,
    )
    step.tell("key.applied", applied, key="keys", version=len(rules.keys) + 1, actor=by.id, decided_by=by.id)
    await step.done()
    return "key"


async def _set_mode(tx: Tx, told: Told, setting: SwitchSetting, rules: store.Rules, gate: Gate) -> Became:
    if setting.name != "site_mode" or await store.knows_setting(tx, told.statement.hash):
        return "unchanged"
    step, at, by = Step(tx), now(), person(told.opening)
    version = await store.switch_version(tx, setting.name) + 1
    what = {"name": setting.name, "version": version, "value": setting.value}
    step.writes.add(switch_settings, what | signed_row(told.statement, told.opening))
    append_entry(step, gate.entry(rules.head, "site_mode", told.statement, at), None, by.id)
    applied = SwitchApplied(
        name=setting.name, value=setting.value, by=by, reason=told.opening.reason, at=at, version=version
    )
    step.tell("switch.applied", applied, key=f"switch:{setting.name}", version=version, actor=by.id, decided_by=by.id)
    await step.done()
    return "mode"
