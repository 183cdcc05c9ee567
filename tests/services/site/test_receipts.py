"""What counts as public: signatures, chain, content (S1, S6). Keys are made in the test."""

import pytest

from schemas.statements import Decision, Signed
from schemas.text import sha256
from services.site.publication.chain import BadReceipt, Link, LogState, enter, replay
from services.site.publication.domain import Row, check_row, published
from shared.errors import BadSignature
from tests.services.site.gatework import Gatework, link, new_key


@pytest.fixture
def gate() -> Gatework:
    return Gatework()


def start(gate: Gatework) -> LogState:
    return LogState(gate.keys.ids("decision"))


def row_of(gate: Gatework, **changed: object) -> tuple[Row, object]:
    data = gate.publish()
    entered = enter(start(gate), link(data), gate.keys)
    decision = entered.statement
    assert isinstance(decision, Decision)
    row = Row(
        **{  # type: ignore[arg-type]
            "item_id": decision.item_id,
            "seq": 0,
            "kind": "doc",
            "lang": "en",
            "path": decision.path,
            "audience": "public",
            "content_hash": decision.content_hash,
            "statement": data.decision,
            "gate": data.gate,
            "content": data.content,
            **changed,
        }
    )
    return row, entered


def test_a_whole_receipt_is_shown_from_the_signed_bytes(gate: Gatework) -> None:
    data = gate.publish("guide/start", title="Start", summary="Begin here", revision=3)
    entered = enter(start(gate), link(data), gate.keys)
    item = published(entered, data.content)
    assert (item.url, item.title, item.summary, item.revision) == ("/doc/en/guide/start", "Start", "Begin here", 3)
    assert (entered.after.seq, entered.after.hash) == (0, data.gate.hash)


@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
def test_only_an_approval_publishes(gate: Gatework, verdict: str) -> None:
    data = gate.publish(verdict=verdict)
    with pytest.raises(BadReceipt, match="not an approval"):
        enter(start(gate), link(data), gate.keys)


def test_an_entry_must_follow_the_one_before(gate: Gatework) -> None:
    first, second = gate.publish("a"), gate.publish("b")
    with pytest.raises(BadReceipt, match="does not continue"):
        enter(start(gate), link(second), gate.keys)
    after = enter(start(gate), link(first), gate.keys).after
    with pytest.raises(BadReceipt, match="does not continue"):
        enter(after, link(first), gate.keys)


def test_a_forked_log_is_refused(gate: Gatework) -> None:
    first = gate.publish("a")
    gate.hash = sha256(b"another history")
    fork = gate.publish("b")
    after = enter(start(gate), link(first), gate.keys).after
    with pytest.raises(BadReceipt, match="does not continue"):
        enter(after, link(fork), gate.keys)


def test_a_decision_by_an_unknown_key_is_refused(gate: Gatework) -> None:
    data = gate.publish(by=new_key())
    with pytest.raises(BadReceipt, match="not known"):
        enter(start(gate), link(data), gate.keys)


def test_an_entry_by_another_gate_is_refused(gate: Gatework) -> None:
    keys, gate.gate = gate.keys, new_key()
    data = gate.publish()
    with pytest.raises(BadSignature):
        enter(start(gate), link(data), keys)


def test_a_statement_that_the_gate_did_not_seal_is_refused(gate: Gatework) -> None:
    data, (other, _) = gate.publish("a"), gate.decision("a", "Other text.")
    with pytest.raises(BadReceipt, match="another statement"):
        enter(start(gate), link(data.model_copy(update={"decision": other})), gate.keys)


def test_a_signature_for_another_purpose_is_worth_nothing(gate: Gatework) -> None:
    statement, _ = gate.decision()
    entry = gate.enter("withdrawal", statement, Decision.from_bytes(statement.payload).item_id)

    with pytest.raises(BadSignature):
        enter(start(gate), Link(entry, statement), gate.keys)


def test_bytes_that_are_not_canonical_are_refused(gate: Gatework) -> None:
    statement, _ = gate.decision()
    loose = statement.payload.replace(b'{"attachments"', b'{ "attachments"')
    doubled = statement.payload[:-1] + b',"audience":"members"}'
    for payload in (loose, doubled):
        signed = Signed(
            payload=payload, signature=gate.decider.sign_bytes(Decision.PURPOSE, payload), key_id=statement.key_id
        )
        with pytest.raises(BadSignature):
            gate.keys.verify("decision", signed, Decision)


def test_an_item_id_that_belongs_to_another_place_is_refused(gate: Gatework) -> None:
    from shared.ids import item_id  # noqa: PLC0415

    data = gate.publish("a", item_id=item_id("doc", "en", "b"))
    with pytest.raises(BadReceipt, match="does not belong"):
        enter(start(gate), link(data), gate.keys)


def test_swapped_content_is_refused(gate: Gatework) -> None:
    data = gate.publish()
    entered = enter(start(gate), link(data), gate.keys)
    with pytest.raises(BadReceipt, match="not the content"):
        published(entered, data.content.replace(b"Text.", b"Evil."))


def test_a_revoked_key_counts_before_its_revocation_only(gate: Gatework) -> None:
    second = new_key()
    entries = [gate.publish("a"), gate.change_key("added", second)]
    entries += [gate.publish("b", by=second), gate.change_key("revoked", gate.decider, by=second)]
    state, found, fault = replay(start(gate), map(link, entries), gate.keys)
    assert (state.seq, len(found), fault) == (3, 4, None)
    late = gate.publish("c")
    with pytest.raises(BadReceipt, match="revoked"):
        enter(state, link(late), gate.keys)


def test_a_key_cannot_vouch_for_itself(gate: Gatework) -> None:
    data = gate.change_key("revoked", gate.decider)
    with pytest.raises(BadReceipt, match="itself"):
        enter(start(gate), link(data), gate.keys)


def test_the_mode_is_read_from_the_log(gate: Gatework) -> None:
    state = start(gate)
    for value in ("off", "open", "members"):
        state = enter(state, link(gate.mode(value)), gate.keys).after
        assert state.mode == value


def test_a_stored_chain_is_good_up_to_its_first_fault(gate: Gatework) -> None:
    entries = [link(gate.publish(name)) for name in "abc"]
    state, found, fault = replay(start(gate), [entries[0], entries[2]], gate.keys)
    assert (state.seq, len(found)) == (0, 1)
    assert fault is not None and "does not continue" in fault


@pytest.mark.parametrize(
    "changed",
    [
        {"content": b"{}"},
        {"audience": "members"},
        {"path": "elsewhere"},
        {"kind": "page"},
        {"lang": "de"},
        {"seq": 7},
        {"content_hash": sha256(b"x")},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_row_changed_by_hand_is_refused(gate: Gatework, changed: dict[str, object]) -> None:
    row, entered = row_of(gate, **changed)
    with pytest.raises(BadReceipt):
        check_row(row, entered)  # type: ignore[arg-type]


def test_a_row_that_the_log_does_not_know_is_refused(gate: Gatework) -> None:
    row, _ = row_of(gate)
    with pytest.raises(BadReceipt, match="no entry"):
        check_row(row, None)


def test_an_old_row_put_back_after_a_withdrawal_is_refused(gate: Gatework) -> None:
    row, entered = row_of(gate)
    state = entered.after  # type: ignore[attr-defined]
    gone = enter(state, link(gate.retract(row.item_id)), gate.keys)
    with pytest.raises(BadReceipt, match="withdrawn"):
        check_row(row, gone)
