"""The examiner of the gate's log, with keys and logs made here (S1, S6)."""

import base64
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from infra.prove.ledger import STATEMENTS, Ledger, Link, Row, row_fault
from schemas.content import ItemContent
from schemas.statements import FIRST, Decision, GateEntry, KeyChange, LinkChange, Signed, Statement, Withdrawal
from schemas.text import sha256
from services.bridge.usecases import verify_gate
from services.site.publication.chain import STATEMENTS as SITE_STATEMENTS
from shared.ids import item_id
from shared.signing import PublicKeys, SigningKey

AT = datetime(2026, 1, 1, tzinfo=UTC)
DECISION, SECOND, GATE = (SigningKey(secrets.token_bytes(32)) for _ in range(3))
ITEM = item_id("doc", "en", "a")
CONTENT = ItemContent(title="A", body="text").to_bytes()


def keys() -> PublicKeys:
    return PublicKeys({"decision": {DECISION.key_id: DECISION.public}, "gate": {GATE.key_id: GATE.public}})


def decision(key: SigningKey = DECISION, **changes: Any) -> Signed:
    fields: dict[str, Any] = {
        "key_id": key.key_id, "item_id": ITEM, "revision": 1, "content_hash": sha256(CONTENT), "kind": "doc", "lang": "en", "path": "a",
        "audience": "public", "verdict": "approve", "decided_at": AT, "decider": "0" * 64, "prior_version": 1,
    }  # fmt: skip
    return key.sign(Decision(**{**fields, **changes}))


def withdrawal(key: SigningKey = DECISION) -> Signed:
    return key.sign(Withdrawal(key_id=key.key_id, item_id=ITEM, decided_at=AT, decider="0" * 64, prior_version=2))


def key_change(action: str, subject: SigningKey, by: SigningKey) -> Signed:
    public = base64.b64encode(subject.public).decode()
    return by.sign(
        KeyChange(key_id=by.key_id, action=action, subject_key_id=subject.key_id, subject_public_key=public, decided_at=AT, decider="0" * 64)  # type: ignore[arg-type]
    )  # fmt: skip


def chain(*steps: tuple[str, Signed]) -> list[Link]:
    found: list[Link] = []
    for kind, statement in steps:
        about = kind in ("publication", "withdrawal", "link")
        entry = GateEntry(
            key_id=GATE.key_id, seq=len(found), previous=found[-1].gate.hash if found else FIRST, entry=kind, item_id=ITEM if about else None,  # type: ignore[arg-type]
            statement_hash=statement.hash, content_hash=sha256(CONTENT) if kind == "publication" else None, at=AT,
        )  # fmt: skip
        found.append(Link(GATE.sign(entry), statement))
    return found


def read(links: list[Link]) -> Ledger:
    ledger = Ledger(keys())
    ledger.read(links)
    return ledger


def row(link: Link) -> Row:
    return Row(ITEM, 0, ("doc", "en", "a", "public", sha256(CONTENT)), link, CONTENT)


def test_a_sound_log_and_its_row_have_no_fault() -> None:
    links = chain(("publication", decision()))
    ledger = read(links)
    assert (ledger.fault, ledger.seq, ledger.head) == ("", 0, links[0].gate.hash)
    assert row_fault(row(links[0]), ledger) == ""


def test_an_added_key_counts_from_its_entry_on_and_a_revoked_one_no_longer() -> None:
    added = ("key", key_change("added", SECOND, DECISION))
    revoked = ("key", key_change("revoked", DECISION, SECOND))
    assert read(chain(added, ("publication", decision(SECOND)))).fault == ""
    assert "does not count" in read(chain(("publication", decision(SECOND)), added)).fault
    assert "does not count" in read(chain(added, revoked, ("publication", decision()))).fault


def raw(key: SigningKey, statement: Statement, payload: bytes, purpose: str = "") -> Signed:
    return Signed(payload=payload, signature=key.sign_bytes(purpose or statement.purpose, payload), key_id=key.key_id)


def twice() -> Signed:
    payload = decision().payload
    return raw(DECISION, Decision.from_bytes(payload), b'{"audience":"members",' + payload[1:])


def other_purpose() -> Signed:
    payload = decision().payload
    return raw(DECISION, Decision.from_bytes(payload), payload, Withdrawal.PURPOSE)


@pytest.mark.parametrize(
    "links",
    [
        chain(("publication", decision(verdict="reject"))),
        chain(("publication", decision(item_id=item_id("doc", "en", "b")))),
        chain(("publication", decision(path="b"))),
        chain(("publication", decision(content_hash="0" * 64))),
        chain(("publication", twice())),
        chain(("publication", other_purpose())),
        chain(("publication", withdrawal())),
        chain(("key", key_change("added", DECISION, DECISION))),
        chain(("publication", decision()), ("withdrawal", withdrawal()))[1:],
        [chain(("publication", decision()))[0]] * 2,
        [Link(chain(("publication", decision()))[0].gate, decision(audience="members"))],
    ],
)
def test_an_entry_that_is_not_right_is_named(links: list[Link]) -> None:
    assert "entry" in read(links).fault


@pytest.mark.parametrize(
    "changes",
    [
        {"place": ("doc", "en", "a", "members", sha256(CONTENT))},
        {"place": ("doc", "en", "b", "public", sha256(CONTENT))},
        {"content": CONTENT + b" "},
        {"content": ItemContent(title="B", body="text").to_bytes()},
        {"seq": 1},
        {"item_id": item_id("doc", "en", "b")},
        {"link": Link(chain(("publication", decision()))[0].gate, decision(audience="members"))},
    ],
)
def test_a_row_that_says_something_else_is_named(changes: dict[str, Any]) -> None:
    links = chain(("publication", decision()))
    assert row_fault(replace(row(links[0]), **changes), read(links))


def test_a_row_of_a_withdrawn_item_is_named() -> None:
    links = chain(("publication", decision()), ("withdrawal", withdrawal()))
    assert row_fault(row(links[0]), read(links)) == "was withdrawn"


def test_a_link_needs_the_gates_signature() -> None:
    link = chain(("publication", decision()))[0]
    stranger = SigningKey(secrets.token_bytes(32))
    forged = Signed(
        payload=link.gate.payload,
        signature=stranger.sign_bytes(GateEntry.PURPOSE, link.gate.payload),
        key_id=GATE.key_id,
    )
    assert read([Link(forged, link.statement)]).fault


def share_link(action: str, item: Any = ITEM) -> Signed:
    said = LinkChange(
        key_id=DECISION.key_id, link_id=item_id("doc", "en", "link"), item_id=item, action=action, token_hash=sha256(b"token"),
        expires_at=AT, decided_at=AT, decider=sha256(b"x"), prior_version=0,
    )  # fmt: skip
    return DECISION.sign(said)


def test_a_share_link_is_an_entry_and_changes_nothing_of_its_item() -> None:
    links = chain(("publication", decision()), ("link", share_link("open")), ("link", share_link("close")))
    found = read(links)
    assert (found.fault, found.seq, row_fault(row(links[0]), found)) == ("", 2, "")
    other = read(chain(("publication", decision()), ("link", share_link("open", item_id("doc", "en", "b")))))
    assert "another item" in other.fault


def test_whoever_reads_the_log_knows_every_kind_of_entry() -> None:
    """Taken back is what a withdrawal or an undo says; the others name their statement."""
    kinds = set(get_args(GateEntry.model_fields["entry"].annotation))
    assert set(STATEMENTS) | {"withdrawal"} == kinds == set(SITE_STATEMENTS)
    assert set(verify_gate._STATEMENTS) | {"withdrawal"} == kinds
