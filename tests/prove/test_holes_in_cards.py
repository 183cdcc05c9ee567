"""Holes around cards: a word that nobody signed, a card that was changed, a host that came from elsewhere, another card shown than was asked."""

from typing import Any
from uuid import UUID

import pytest

from infra.prove.areas.card_rows import check_cards, check_statements
from infra.prove.areas.cards import check_senders
from schemas.outward import Card, CardDecision
from schemas.statements import Opening
from schemas.text import canonical, sha256
from shared.clock import now
from shared.signing import SigningKey
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, run, see
from tests.prove.test_holes_on_the_bus import agent_may_say_anything, edited

pytestmark = pytest.mark.stack
SYSTEM, CONSOLE = "system_db", "console_db"
CARD = Card(
    card_id=UUID(int=7),
    subject="use",
    asker="agent",
    connector="prove",
    kind="http",
    operations=("get",),
    hosts=("evil.example:443",),
    requested_at=now(),
    expires_at=now(),
)
RAW = canonical(CARD.model_dump(mode="json"))
NO_CARD = "ALTER TABLE core.cards DISABLE TRIGGER USER\nDELETE FROM core.cards WHERE card_id = '00000000-0000-0000-0000-000000000007'\nALTER TABLE core.cards ENABLE ALWAYS TRIGGER no_change\nALTER TABLE core.cards ENABLE ALWAYS TRIGGER no_truncate"
NO_WORD = NO_CARD.replace("core.cards", "core.statements").replace("card_id = '00000000-0000-0000-0000-000000000007'", "subject = 'planted'")  # fmt: skip
NOT_SHOWN = "DELETE FROM app.cards WHERE card_id = '00000000-0000-0000-0000-000000000007'"


def card(raw: bytes) -> str:
    return f"INSERT INTO core.cards (card_id, card, card_hash) VALUES ('{CARD.card_id}', '\\x{raw.hex()}', '{sha256(raw)}')"


def shown(raw: bytes) -> str:
    return f"INSERT INTO app.cards (card_id, card, asker, connector, requested_at, expires_at) VALUES ('{CARD.card_id}', '\\x{raw.hex()}', 'agent', 'prove', now(), now())"


def word(stack: Stack, key: SigningKey, opening: Opening, commits_to: Opening) -> str:
    """A decision on the planted card, in the real key's own name or in that of a stranger."""
    said: dict[str, Any] = {"card_id": CARD.card_id, "card_hash": CARD.hash, "verdict": "allow", "decided_at": now()}
    signed = key.sign(CardDecision(key_id=key.key_id, decider=commits_to.commitment, **said))
    return (
        "INSERT INTO core.statements (purpose, subject, statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce) VALUES ("
        f"'{CardDecision.PURPOSE}', 'planted', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', '{signed.hash}', "
        f"'{opening.person_id}', '{opening.person_name}', '{opening.via}', '', '{opening.nonce}')"
    )


def opening(name: str) -> Opening:
    return Opening(person_id="p", person_name=name, via="console", reason="", nonce="n")


def by_stranger(stack: Stack) -> None:
    run(stack, SYSTEM, word(stack, SigningKey(b"x" * 32), opening("Mara"), opening("Mara")))


def in_anothers_name(stack: Stack) -> None:
    key = SigningKey.load(stack.layout.keys / "console" / "decision.key")
    run(stack, SYSTEM, card(RAW))
    run(stack, SYSTEM, word(stack, key, opening("Nobody"), opening("Mara")))


def on_another_card(stack: Stack) -> None:
    key = SigningKey.load(stack.layout.keys / "console" / "decision.key")
    run(stack, SYSTEM, card(canonical(CARD.model_copy(update={"asker": "site"}).model_dump(mode="json"))))
    run(stack, SYSTEM, word(stack, key, opening("Mara"), opening("Mara")))


def heal(stack: Stack) -> None:
    for text in (NO_WORD, NO_CARD):
        run(stack, SYSTEM, text)


SIGNED = "was signed by a person's key"
HOLES = [
    Hole("a decision that no person signed", check_statements, SIGNED, by_stranger, heal),
    Hole("a card changed after it was decided", check_statements, SIGNED, on_another_card, heal),
    by_sql("a host that no connector was declared with", check_cards, "names hosts", SYSTEM, card(RAW), NO_CARD),
    by_sql("people are shown a card that nobody asked", check_cards, "people are shown", CONSOLE, shown(RAW), NOT_SHOWN),
]  # fmt: skip
MORE = [
    edited("an agent that decides on cards", agent_may_say_anything, "publish from.agent.card.decided", check_senders),
    Hole("a decision in another person's name", check_statements, SIGNED, in_anothers_name, heal),
    by_sql("a card in another spelling", check_cards, "what its hash says", SYSTEM, card(RAW + b" "), NO_CARD),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
