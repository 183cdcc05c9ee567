"""Signed statements (S1): exact bytes, one purpose, one spelling."""

import json
from uuid import UUID

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from schemas.content import ItemContent
from schemas.statements import Decision, GateHead, Opening, Signed, Withdrawal
from schemas.text import BadJson, canonical, parse_json, text_fault
from shared.clock import now
from shared.errors import BadSignature
from shared.ids import item_id, new_id
from shared.signing import PublicKeys, SigningKey

KEY = SigningKey(b"d" * 32)
KEYS = PublicKeys({"decision": {KEY.key_id: KEY.public}})
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcXYZ_", max_size=5), inner, max_size=4),
    max_leaves=12,
)


def decision(**changes: object) -> Decision:
    values = {
        "key_id": KEY.key_id,
        "item_id": UUID(int=7),
        "revision": 1,
        "content_hash": "a" * 64,
        "kind": "doc",
        "lang": "de",
        "path": "pfad/seite",
        "audience": "members",
        "verdict": "approve",
        "decided_at": now(),
        "decider": "b" * 64,
        "prior_version": 1,
    }
    return Decision.model_validate(values | changes)


@given(VALUES)
def test_canonical_json_is_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


def test_a_decision_comes_back_from_its_own_bytes_only() -> None:
    signed = KEY.sign(decision())
    assert KEYS.verify("decision", signed, Decision).path == "pfad/seite"
    for changed in (signed.payload.replace(b"members", b"public"), signed.payload + b" "):
        with pytest.raises(BadSignature):
            KEYS.verify("decision", Signed(payload=changed, signature=signed.signature, key_id=KEY.key_id), Decision)


def test_duplicate_keys_are_refused_even_when_signed() -> None:
    payload = decision().to_bytes()
    doubled = payload[:-1] + b',"audience":"public"}'
    signed = Signed(payload=doubled, signature=KEY.sign_bytes(Decision.PURPOSE, doubled), key_id=KEY.key_id)
    with pytest.raises(BadSignature, match="twice"):
        KEYS.verify("decision", signed, Decision)


def test_another_spelling_of_the_same_statement_is_refused() -> None:
    spelled = json.dumps(json.loads(decision().to_bytes())).encode()
    signed = Signed(payload=spelled, signature=KEY.sign_bytes(Decision.PURPOSE, spelled), key_id=KEY.key_id)
    with pytest.raises(BadSignature, match="canonical"):
        KEYS.verify("decision", signed, Decision)


def test_a_signature_for_one_purpose_is_worth_nothing_for_another() -> None:
    signed = KEY.sign(
        Withdrawal(key_id=KEY.key_id, item_id=UUID(int=7), decided_at=now(), decider="b" * 64, prior_version=1)
    )
    with pytest.raises(BadSignature):
        KEYS.verify("decision", signed, Decision)
    payload = decision().to_bytes()
    crossed = Signed(payload=payload, signature=KEY.sign_bytes(Withdrawal.PURPOSE, payload), key_id=KEY.key_id)
    with pytest.raises(BadSignature):
        KEYS.verify("decision", crossed, Decision)


def test_a_key_of_another_duty_is_not_known() -> None:
    head = GateHead(key_id=KEY.key_id, seq=0, head="0" * 64, at=now())
    with pytest.raises(BadSignature, match="no gate key"):
        KEYS.verify("gate", KEY.sign(head), GateHead)


def test_the_decider_is_bound_without_being_named() -> None:
    opening = Opening(person_id="1", person_name="Mara", via="console", reason="ok", nonce="x")
    assert opening.commitment == opening.model_copy().commitment
    assert opening.commitment != opening.model_copy(update={"person_name": "Tom"}).commitment
    assert b"Mara" not in decision(decider=opening.commitment).to_bytes()


@given(TEXT.filter(bool), TEXT)
def test_content_bytes_round_trip(title: str, body: str) -> None:
    if text_fault(title) or text_fault(body) or len(title) > 500:
        return
    content = ItemContent(title=title, body=body)
    assert ItemContent.from_bytes(content.to_bytes()) == content


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a":1,"a":2}', b"\xff", b"NaN", b"[" * 100_000])
def test_what_is_not_json_is_refused_with_a_reason(raw: bytes) -> None:
    with pytest.raises(BadJson):
        parse_json(raw)


def test_nul_and_lone_surrogates_are_named_with_their_place() -> None:
    assert "position 2" in (text_fault("ab\x00") or "")
    assert "position 0" in (text_fault("\ud800") or "")
    assert text_fault("C:\\u0041bc \\u0000 is typed") is None


def test_ids_rise_and_items_have_one_id_everywhere() -> None:
    ids = [new_id() for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 5000
    assert all(each.version == 7 for each in ids)
    assert item_id("doc", "de", "a") == item_id("doc", "de", "a") != item_id("doc", "en", "a")
