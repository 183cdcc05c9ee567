"""After a restore: what was taken back since the backup is taken back again, by the very statements that people signed (S6).

Each becomes a new entry of the restored log. What was published since is not invented: the caller tells what is missing.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from schemas.statements import KeyChange, LinkChange, Opening, Signed, Statement, SwitchSetting, Undo, Withdrawal
from schemas.text import parse_json
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.usecases.record_change import enter_key, enter_link, enter_setting, enter_withdrawal
from services.bridge.usecases.record_crossings import Step
from shared.db import Tx
from shared.errors import BadSignature

Became = Literal["withdrawn", "key", "mode", "link", "unchanged"]
_KINDS: dict[str, type[Statement]] = {
    kind.PURPOSE: kind for kind in (Withdrawal, Undo, SwitchSetting, KeyChange, LinkChange)
}


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
        case LinkChange():
            return await _close_link(tx, told, statement, rules, gate)
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
    step = Step(tx)
    # by the restored item's own count: that of the statement may be used by a later decision
    await enter_withdrawal(step, told.statement, told.opening, found.item.version, found, gate)
    await step.done()
    return "withdrawn"


async def _change_key(
    tx: Tx, told: Told, change: KeyChange, rules: store.Rules, keys: DecisionKeys, gate: Gate
) -> Became:
    if keys.judge_change(change, rules.keys) is not None:
        return "unchanged"  # it counts already
    step = Step(tx)
    enter_key(step, told.statement, told.opening, change, rules, gate)
    await step.done()
    return "key"


async def _close_link(tx: Tx, told: Told, change: LinkChange, rules: store.Rules, gate: Gate) -> Became:
    """What was closed since the backup is closed again. What was opened since is not invented."""
    link = await store.link(tx, change.link_id)
    if change.action != "close" or link is None or link.changes != change.prior_version:
        return "unchanged"
    step = Step(tx)
    enter_link(step, told.statement, told.opening, change, rules, gate)
    await step.done()
    return "link"


async def _set_mode(tx: Tx, told: Told, setting: SwitchSetting, rules: store.Rules, gate: Gate) -> Became:
    if setting.name != "site_mode" or await store.knows_setting(tx, told.statement.hash):
        return "unchanged"
    step, version = Step(tx), await store.switch_version(tx, setting.name) + 1
    enter_setting(step, told.statement, told.opening, setting, version, rules, gate)
    await step.done()
    return "mode"
