"""Whether a decision counts: every reason to say no, and the one way to yes."""

import base64
from typing import Any

import pytest

from schemas.statements import Decision, GateEntry, KeyChange, Signed, SwitchSetting, Withdrawal
from services.bridge.domain import SWITCH_DEFAULTS, Item, Refusal
from services.bridge.gate import DecisionKeys, Gate, Head, KeyRecord
from services.bridge.judging import judge_decision, judge_opening, judge_setting, judge_withdrawal
from shared.signing import PublicKeys, SigningKey
from tests.services.bridge.makes import AT, Signer, opening, revision

KEY, OTHER, GATE = SigningKey(b"k" * 32), SigningKey(b"o" * 32), SigningKey(b"g" * 32)
SIGNER = Signer(KEY)


def keys() -> DecisionKeys:
    return DecisionKeys(PublicKeys({"decision": {KEY.key_id: KEY.public}, "gate": {GATE.key_id: GATE.public}}))


def judge(
    switches: dict[str, str] | None = None, who: Any = None, item: Any = None, of: Any = None, **changed: Any
) -> str:
    """The refusal's code, or an empty string."""
    of = of or revision(path="lock")
    who = who or opening()
    item = item or Item(of.item_id, revision=1, version=1)
    decision = SIGNER.statement(of, changed.pop("verdict", "approve"), changed.pop("prior", 1), who, **changed)
    found = judge_decision(decision, who, item, of, SWITCH_DEFAULTS | (switches or {}), AT)
    return found.code if found else ""


def test_a_persons_decision_on_the_exact_revision_counts() -> None:
    assert judge() == ""


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"content_hash": "0" * 64}, "invalid"),
        ({"kind": "page"}, "invalid"),
        ({"lang": "de"}, "invalid"),
        ({"path": "elsewhere"}, "invalid"),
        ({"audience": "members"}, "invalid"),
        ({"attachments": ("0" * 64,)}, "invalid"),
        ({"revision": 2}, "conflict"),
        ({"prior": 0}, "conflict"),
    ],
)
def test_a_decision_on_anything_else_does_not(change: dict[str, Any], code: str) -> None:
    assert judge(**change) == code


def test_a_decided_revision_is_not_decided_again() -> None:
    of = revision(path="lock")
    assert judge(of=of, item=Item(of.item_id, state="published", revision=1, published=1, version=1)) == "conflict"


def test_a_stopped_revision_is_never_approved() -> None:
    stopped = revision(path="lock", blocked=True)
    assert judge(of=stopped) == "blocked"
    assert judge(of=stopped, verdict="reject") == ""


def test_while_frozen_nothing_is_approved_but_much_is_rejected() -> None:
    assert judge({"publication_mode": "frozen"}) == "frozen"
    assert judge({"publication_mode": "frozen"}, verdict="reject") == ""


def test_four_eyes() -> None:
    on = {"four_eyes": "on"}
    assert judge(on, opening("ada")) == "four_eyes"
    assert judge(on, opening("ada"), verdict="reject") == ""
    assert judge(on, opening("operator", via="operator")) == "four_eyes"
    assert judge(on, opening("tom")) == ""


@pytest.mark.parametrize("via", ["agent", "service", "mail", ""])
def test_only_people_decide(via: str) -> None:
    who = opening(via=via)
    refusal = judge_opening(who.commitment, who)
    assert refusal is not None and refusal.code == "invalid"


def test_another_person_behind_the_commitment_is_found_out() -> None:
    refusal = judge_opening(opening("tom").commitment, opening("eve"))
    assert refusal is not None and refusal.code == "bad_signature"


def test_withdrawing_needs_something_public() -> None:
    item = Item(revision().item_id, revision=1, version=3)
    refused = judge_withdrawal(3, item)
    assert refused is not None and refused.code == "conflict"
    assert judge_withdrawal(3, Item(item.item_id, state="published", revision=1, published=1, version=3)) is None
    assert judge_withdrawal(2, Item(item.item_id, state="published", revision=1, published=1, version=3)) is not None
    unknown = judge_withdrawal(0, None)
    assert unknown is not None and unknown.code == "unknown_item"


@pytest.mark.parametrize("value", ["ajar", ""])
def test_a_switch_has_its_values_only(value: str) -> None:
    who = opening()
    made = SwitchSetting(
        key_id=KEY.key_id, name="site_mode", value=value, decided_at=AT, decider=who.commitment, prior_version=0
    )
    refusal = judge_setting(made, 0)
    assert refusal is not None and refusal.code == "invalid"


def code_of(found: object) -> str:
    return found.code if isinstance(found, Refusal) else ""


def test_a_decision_signed_by_the_key_counts_and_others_do_not() -> None:
    who, of = opening(), revision()
    signed = SIGNER.decision(of, "approve", 1, who)
    assert isinstance(keys().verify(signed, Decision, ()), Decision)
    assert code_of(keys().verify(Signer(OTHER).decision(of, "approve", 1, who), Decision, ())) == "bad_signature"
    bent = Signed(
        payload=signed.payload.replace(b"approve", b"APPROVE"), signature=signed.signature, key_id=signed.key_id
    )
    assert code_of(keys().verify(bent, Decision, ())) == "bad_signature"


def test_a_signature_of_one_purpose_is_worth_nothing_for_another() -> None:
    signed = SIGNER.withdrawal(revision().item_id, 1, opening())
    assert code_of(keys().verify(signed, Decision, ())) == "bad_signature"
    assert isinstance(keys().verify(signed, Withdrawal, ()), Withdrawal)


def test_duplicate_keys_in_the_signed_bytes_are_refused() -> None:
    payload = SIGNER.statement(revision(), "approve", 1, opening()).to_bytes()
    doubled = payload[:-1] + b',"verdict":"reject"}'
    signed = Signed(payload=doubled, signature=KEY.sign_bytes(Decision.PURPOSE, doubled), key_id=KEY.key_id)
    assert code_of(keys().verify(signed, Decision, ())) == "bad_signature"


def test_a_revoked_key_counts_no_more_and_an_added_one_does() -> None:
    who, of = opening(), revision()
    added = KeyRecord("added", OTHER.key_id, base64.b64encode(OTHER.public).decode())
    revoked = KeyRecord("revoked", KEY.key_id, base64.b64encode(KEY.public).decode())
    both = keys()
    assert isinstance(both.verify(Signer(OTHER).decision(of, "approve", 1, who), Decision, (added,)), Decision)
    assert code_of(both.verify(SIGNER.decision(of, "approve", 1, who), Decision, (added, revoked))) == "revoked_key"


def change(action: str, subject: SigningKey, records: tuple[KeyRecord, ...] = (), by: SigningKey = KEY) -> str:
    made = KeyChange.from_bytes(Signer(by).key_change(action, subject, opening()).payload)
    assert isinstance(made, KeyChange)
    return code_of(keys().judge_change(made, records))


def test_key_changes() -> None:
    gone = KeyRecord("revoked", OTHER.key_id, "")
    assert change("added", OTHER) == ""
    assert change("added", KEY, by=OTHER) == "conflict"
    assert change("revoked", KEY) == "invalid", "a key cannot revoke itself"
    assert change("revoked", KEY, by=OTHER) == ""
    assert change("revoked", GATE) == "invalid", "only decision keys"
    assert change("added", OTHER, (gone,)) == "conflict", "revoked is final"


def test_gate_entries_form_a_chain() -> None:
    gate, head = Gate(GATE), Head()
    statement = SIGNER.decision(revision(), "approve", 1, opening())
    for seq in range(3):
        sealed = gate.entry(head, "publication", statement, AT)
        entry = GateEntry.from_bytes(sealed.entry.payload)
        assert isinstance(entry, GateEntry)
        assert (entry.seq, entry.previous, entry.statement_hash) == (seq, head.hash, statement.hash)
        head = Head(sealed.seq, sealed.entry.hash)
