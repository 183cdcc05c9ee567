"""What people decide about the way out passes the lock verified, unchanged, once; and the connectors learn which keys count."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.console.v1 import CardDecided, ConnectorDeclared, SecretSealed
from schemas.model import Data
from schemas.outward import CardDecision, ConnectorSetting, SecretChange, SecretPlace
from schemas.statements import Opening, Statement
from schemas.text import sha256
from services.bridge.usecases.forward_signed import forward_signed
from services.bridge.usecases.tell_keys import tell_keys
from shared.ids import new_id
from shared.signing import SigningKey
from tests.services.bridge.conftest import Lock, names, received
from tests.services.bridge.makes import AT, Signer, opening

SEALED = b"an age file"


def said(lock: Lock, who: Opening, card: UUID) -> dict[str, tuple[Statement, Data]]:
    """One of each kind: the statement, and its event's data."""
    head: dict[str, Any] = {"key_id": lock.signer.key.key_id, "decided_at": AT, "decider": who.commitment}
    place = SecretPlace(surface="agent", connector="llm", name="openai")
    setting = ConnectorSetting(name="llm", kind="llm", settings="{}", enabled=True, prior_version=0, **head)
    change = SecretChange(action="put", place=place, type="api_key", version=1, sealed_hash=sha256(SEALED), prior_version=0, **head)  # fmt: skip
    decision = CardDecision(card_id=card, card_hash="0" * 64, verdict="allow", **head)
    sign = lock.signer.key.sign
    return {
        "connector.declared": (setting, ConnectorDeclared(statement=sign(setting), opening=who)),
        "secret.sealed": (change, SecretSealed(statement=sign(change), opening=who, sealed=SEALED)),
        "card.decided": (decision, CardDecided(card_id=card, statement=sign(decision), opening=who)),
    }


EVENTS = ("connector.declared", "secret.sealed", "card.decided")


async def forward(lock: Lock, name: str, data: Data, sender: str = "console") -> list[dict[str, Any]]:
    return await lock.run(forward_signed, received(name, data, sender, key=str(uuid4())), lock.keys)


@pytest.mark.parametrize("name", EVENTS)
async def test_a_persons_word_passes_byte_for_byte_and_is_recorded(lock: Lock, name: str) -> None:
    who = opening("mara")
    _, data = said(lock, who, uuid4())[name]
    event = received(name, data, key=str(uuid4()))
    assert names(await lock.run(forward_signed, event, lock.keys)) == [f"{name}>connectors"]
    [row] = await lock.rows("SELECT body FROM app.outbox WHERE event_id = $1", event.event_id)
    assert row["body"] == event.raw
    [crossing] = await lock.rows(
        "SELECT receiver, policy, verdict, decided_by, signature_hash FROM core.crossings WHERE event_id = $1",
        event.event_id,
    )
    hashed = sha256(data.statement.signature)  # type: ignore[attr-defined]
    assert tuple(crossing) == ("connectors", "deliver", "delivered", "mara", hashed)


@pytest.mark.parametrize("name", EVENTS)
async def test_a_word_that_nobody_gave_is_refused(lock: Lock, name: str) -> None:
    who = opening("mara")
    statement, data = said(lock, who, uuid4())[name]
    stranger = SigningKey(b"t" * 32)
    other = stranger.sign(statement.model_copy(update={"key_id": stranger.key_id}))
    signed = data.statement  # type: ignore[attr-defined]
    for says, changed, code in (
        ("by a stranger", {"statement": other}, "bad_signature"),
        ("unsigned", {"statement": signed.model_copy(update={"signature": b""})}, "bad_signature"),
        ("for another purpose", {"statement": lock.signer.setting("four_eyes", "on", 0, who)}, "bad_signature"),
        ("another person", {"opening": opening("eve")}, "bad_signature"),
    ):
        told = await forward(lock, name, data.model_copy(update=changed))
        assert names(told) == ["decision.refused>console"], says
        assert told[0]["data"]["code"] == code, says


async def test_neither_an_agent_nor_another_surface_decides(lock: Lock) -> None:
    card = uuid4()
    _, by_agent = said(lock, opening("agent", via="agent"), card)["card.decided"]
    _, by_site = said(lock, opening("mara"), card)["card.decided"]
    for data, sender in ((by_agent, "console"), (by_site, "site")):
        told = await forward(lock, "card.decided", data, sender)
        assert [each["data"]["code"] for each in told] == ["invalid"]


async def test_an_event_says_nothing_but_what_was_signed(lock: Lock) -> None:
    words = said(lock, opening("mara"), uuid4())
    card, secret = words["card.decided"][1], words["secret.sealed"][1]
    for name, data in (
        ("card.decided", card.model_copy(update={"card_id": uuid4()})),
        ("secret.sealed", secret.model_copy(update={"sealed": b"another file"})),
        ("secret.sealed", secret.model_copy(update={"sealed": None})),
    ):
        told = await forward(lock, name, data)
        assert [each["data"]["code"] for each in told] == ["invalid"]


async def test_connectors_and_agent_learn_every_key_and_a_revoked_one_lets_nothing_pass(lock: Lock) -> None:
    fresh = SigningKey(sha256(new_id().bytes).encode()[:32])
    assert names(await lock.change_key("added", fresh)) == [
        "key.recorded>site",
        "key.recorded>connectors",
        "key.recorded>agent",
        "key.applied>console",
    ]
    by_fresh = Lock(lock.db, lock.public, lock.gate, Signer(fresh))
    _, data = said(by_fresh, opening("mara"), uuid4())["card.decided"]
    assert names(await forward(lock, "card.decided", data)) == ["card.decided>connectors"]
    await lock.change_key("revoked", fresh)
    told = await forward(lock, "card.decided", data)
    assert [each["data"]["code"] for each in told] == ["revoked_key"]


async def test_key_entries_from_before_are_told_once_and_in_order(lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("services.bridge.usecases.append_entry.tell_insider", lambda *_: None)  # as before they read
        for _ in range(2):
            told = await lock.change_key("added", SigningKey(sha256(new_id().bytes).encode()[:32]))
            assert not {"key.recorded>connectors", "key.recorded>agent"} & set(names(told))
    [newest] = await lock.rows("SELECT max(seq) AS seq FROM core.gate_log")
    told = await lock.run(tell_keys)
    assert names(told) == ["key.recorded>connectors"] * 2 + ["key.recorded>agent"] * 2
    assert [each["envelope"]["keyversion"] for each in told] == [newest["seq"] - 1, newest["seq"]] * 2
    assert await lock.run(tell_keys) == []
