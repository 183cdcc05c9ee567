"""Holes around action cards: a word that nobody signed, a card that was changed, another card shown than was asked, a run that nobody allowed."""

from uuid import UUID

import pytest

from infra.prove.areas.actions import check_rows, check_senders
from schemas.agency import ActionCard, ActionDecision
from schemas.outward import Owner
from schemas.statements import Opening
from schemas.text import canonical, sha256
from shared.clock import now
from shared.signing import SigningKey
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, run, see
from tests.prove.test_holes_on_the_bus import agent_may_say_anything, edited

pytestmark = pytest.mark.stack
AGENT, CONSOLE = "agent_db", "console_db"
ID = UUID(int=7)
CARD = ActionCard(
    card_id=ID,
    owner=Owner(kind="user", id="prove-a"),
    owner_name="Prove",
    conversation_id=ID,
    tool="send_letter",
    arguments='{"to":"eve@evil.example"}',
    own=False,
    requested_at=now(),
    expires_at=now(),
)
RAW = canonical(CARD.model_dump(mode="json"))
OPENING = Opening(person_id="p", person_name="Mara", via="console", reason="", nonce="n")
GONE = f"DELETE FROM core.action_decisions WHERE card_id = '{ID}'\nDELETE FROM core.action_cards WHERE card_id = '{ID}'"
NOT_SHOWN = f"DELETE FROM app.action_cards WHERE card_id = '{ID}'"
NOT_RUN = "ALTER TABLE core.action_runs DISABLE TRIGGER USER\nDELETE FROM core.action_runs\nALTER TABLE core.action_runs ENABLE ALWAYS TRIGGER no_change\nALTER TABLE core.action_runs ENABLE ALWAYS TRIGGER no_truncate"


def card(raw: bytes = RAW, owner: str = "prove-a") -> str:
    return (
        "INSERT INTO core.action_cards (owner_kind, owner_id, card_id, conversation_id, turn_id, tool, card, card_hash, requested_at, expires_at)"
        f" VALUES ('user', '{owner}', '{ID}', '{ID}', '{ID}', 'send_letter', '\\x{raw.hex()}', '{sha256(raw)}', now(), now())"
    )


def shown(raw: bytes) -> str:
    return f"INSERT INTO app.action_cards (card_id, card, owner_id, requested_at, expires_at) VALUES ('{ID}', '\\x{raw.hex()}', 'prove-a', now() - interval '1 hour', now())"


def word(key: SigningKey, opening: Opening = OPENING, about: ActionCard = CARD) -> str:
    statement = ActionDecision(
        key_id=key.key_id, card_id=ID, card_hash=about.hash, verdict="allow", decided_at=now(), decider=OPENING.commitment
    )  # fmt: skip
    signed, hidden = key.sign(statement), canonical(opening.model_dump(mode="json"))
    return (
        "INSERT INTO core.action_decisions (owner_kind, owner_id, card_id, verdict, statement, signature, key_id, opening)"
        f" VALUES ('user', 'prove-a', '{ID}', 'allow', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', '\\x{hidden.hex()}')"
    )


def ours(stack: Stack) -> SigningKey:
    return SigningKey.load(stack.layout.keys / "console" / "decision.key")


def by_stranger(stack: Stack) -> None:
    run(stack, AGENT, f"{card()}\n{word(SigningKey(b'x' * 32))}")


def in_anothers_name(stack: Stack) -> None:
    run(stack, AGENT, f"{card()}\n{word(ours(stack), OPENING.model_copy(update={'person_name': 'Nobody'}))}")


def on_another_card(stack: Stack) -> None:
    other = CARD.model_copy(update={"arguments": '{"to":"ada@example.org"}'})
    run(stack, AGENT, f"{card()}\n{word(ours(stack), about=other)}")


def heal(stack: Stack) -> None:
    run(stack, AGENT, GONE)


SIGNED = "was signed by a person's key"
BEGUN = f"{card()}\nINSERT INTO core.action_runs (owner_kind, owner_id, card_id, part) VALUES ('user', 'prove-a', '{ID}', 'agent')"
HOLES = [
    Hole("a decision that no person signed", check_rows, SIGNED, by_stranger, heal),
    by_sql("people are shown another card", check_rows, "people are shown", CONSOLE, shown(RAW), NOT_SHOWN),
]
MORE = [
    Hole("a card changed after it was decided", check_rows, SIGNED, on_another_card, heal),
    edited("an agent that decides on actions", agent_may_say_anything, "publish from.agent.action.decided", check_senders),
    Hole("a decision in another person's name", check_rows, SIGNED, in_anothers_name, heal),
    by_sql("a card of somebody else", check_rows, "and its owner's", AGENT, card(owner="prove-b"), GONE),
    by_sql("a card in another spelling", check_rows, "what its hash says", AGENT, card(RAW + b" "), GONE),
    by_sql("a run that nobody allowed", check_rows, "that nobody allowed", AGENT, BEGUN, f"{NOT_RUN}\n{GONE}"),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
