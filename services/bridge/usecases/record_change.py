"""Write down what a person's verified statement changes, and tell it: a key, a share link, a setting, a withdrawal.

The caller holds the gate's lock and has judged. An arriving event and the replay after a restore come through here alike.
"""

from schemas.bridge.v1 import KeyApplied, LinkApplied, SwitchApplied
from schemas.statements import KeyChange, LinkChange, Opening, Signed, SwitchSetting
from services.bridge import store
from services.bridge.core_tables import decision_keys, link_changes, switch_settings
from services.bridge.domain import withdraw
from services.bridge.gate import Gate
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import add_decision, person, signed_row, tell_moves
from shared.clock import now


def enter_key(step: Step, signed: Signed, opening: Opening, change: KeyChange, rules: store.Rules, gate: Gate) -> None:
    """The key's row, its entry in the gate's log, and `key.applied`."""
    what = {"action": change.action, "subject_key_id": change.subject_key_id, "public_key": change.subject_public_key}
    step.writes.add(decision_keys, what | signed_row(signed, opening))
    at, by = now(), person(opening)
    sealed = gate.entry(rules.head, "key", signed, at)
    append_entry(step, sealed, None, by.id)
    applied = KeyApplied(
        action=change.action,
        key_id=change.subject_key_id,
        statement_hash=signed.hash,
        gate_seq=sealed.seq,
        by=by,
        reason=opening.reason,
        at=at,
    )
    step.tell("key.applied", applied, key="keys", version=len(rules.keys) + 1, actor=by.id, decided_by=by.id)


def enter_link(
    step: Step, signed: Signed, opening: Opening, change: LinkChange, rules: store.Rules, gate: Gate
) -> None:
    """The change's row, its entry in the gate's log, and `link.applied`."""
    what = change.model_dump(include={"link_id", "item_id", "action", "token_hash", "expires_at"})
    step.writes.add(link_changes, what | signed_row(signed, opening))
    at, by = now(), person(opening)
    sealed = gate.entry(rules.head, "link", signed, at, change.item_id)
    append_entry(step, sealed, None, by.id)
    applied = LinkApplied(
        link_id=change.link_id,
        item_id=change.item_id,
        action=change.action,
        statement_hash=signed.hash,
        gate_seq=sealed.seq,
        by=by,
        at=at,
    )
    key, version = f"link:{change.link_id}", change.prior_version + 1
    step.tell("link.applied", applied, key=key, version=version, actor=by.id, decided_by=by.id)


def enter_setting(
    step: Step, signed: Signed, opening: Opening, setting: SwitchSetting, version: int, rules: store.Rules, gate: Gate
) -> None:
    """The setting's row, `switch.applied`, and for the site's mode an entry in the gate's log."""
    at, by = now(), person(opening)
    what = {"name": setting.name, "version": version, "value": setting.value}
    step.writes.add(switch_settings, what | signed_row(signed, opening))
    if setting.name == "site_mode":
        append_entry(step, gate.entry(rules.head, "site_mode", signed, at), None, by.id)
    applied = SwitchApplied(
        name=setting.name, value=setting.value, by=by, reason=opening.reason, at=at, version=version
    )
    step.tell("switch.applied", applied, key=f"switch:{setting.name}", version=version, actor=by.id, decided_by=by.id)


async def enter_withdrawal(
    step: Step, signed: Signed, opening: Opening, prior_version: int, found: store.Present, gate: Gate
) -> None:
    """The withdrawal's row, the item's new state, and for what was public the gate's entry with the retraction to the site."""
    assert found.item is not None and found.revision is not None
    at, public, by, seq = now(), found.item.published, person(opening), None
    item, moves = withdraw(found.item)
    add_decision(step, signed, opening, item.item_id, moves[0].revision, "withdraw", prior_version)
    if public is not None:
        sealed = gate.entry(found.rules.head, "withdrawal", signed, at, item.item_id, public)
        append_entry(step, sealed, None, by.id)
        seq = sealed.seq
    await tell_moves(step, item, moves, by=by, reason=opening.reason, at=at, signed=signed, seq=seq)
    step.writes.save(item, found.revision)
