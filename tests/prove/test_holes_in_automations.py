"""Holes around automations: one that nobody allowed, another instruction, one that was taken back, a delegation for something else (rule 28, S10)."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from infra.prove.areas.automations import check_rows, check_senders
from schemas.agency import AUTOMATE, ActionCard, ActionDecision
from schemas.outward import Delegation, Owner
from schemas.statements import Opening
from schemas.text import canonical, sha256
from shared.clock import now
from shared.signing import SigningKey
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, run, see
from tests.prove.test_holes_on_the_bus import edited

pytestmark = pytest.mark.stack
AGENT, CONSOLE = "agent_db", "console_db"
ID, OTHER = UUID(int=28), UUID(int=29)
SAYS = "summarise my mails"
CARD = ActionCard(
    card_id=ID,
    owner=Owner(kind="user", id="prove-a"),
    owner_name="Prove",
    conversation_id=ID,
    tool=AUTOMATE,
    arguments=json.dumps({"instruction": SAYS}, separators=(",", ":")),
    own=False,
    requested_at=now(),
    expires_at=now(),
)
RAW = canonical(CARD.model_dump(mode="json"))
OPENING = Opening(person_id="p", person_name="Mara", via="console", reason="", nonce="n")
_HIDDEN = canonical(OPENING.model_dump(mode="json")).hex()
ASKED = (
    "INSERT INTO core.action_cards (owner_kind, owner_id, card_id, conversation_id, turn_id, tool, card, card_hash, requested_at, expires_at)"
    f" VALUES ('user', 'prove-a', '{ID}', '{ID}', '{ID}', '{AUTOMATE}', '\\x{RAW.hex()}', '{sha256(RAW)}', now(), now())"
)
GONE = "\n".join(
    f"DELETE FROM core.{table} WHERE owner_id = 'prove-a'"
    for table in ("automation_delegations", "tasks", "action_revocations", "action_decisions", "action_cards")
)


def works(says: str = SAYS, card: UUID = ID) -> str:
    columns = "owner_kind, owner_id, task_id, kind, title, text, rule, zone, words, state, next_at, notify, misfire, window_s, overlap, card_id, instruction_hash"
    values = f"'user', 'prove-a', '{ID}', 'automation', 'x', '{says}', '{{}}', 'UTC', 'x', 'paused', NULL, true, 'latest', 60, 'skip', '{card}', encode(sha256('{says}'), 'hex')"
    return f"INSERT INTO core.tasks ({columns}) VALUES ({values})"


def word(key: SigningKey, verdict: Any = "allow") -> str:
    statement = ActionDecision(
        key_id=key.key_id, card_id=ID, card_hash=CARD.hash, verdict=verdict, decided_at=now(), decider=OPENING.commitment
    )  # fmt: skip
    signed = key.sign(statement)
    said = f"'\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', '\\x{_HIDDEN}'"
    if verdict == "revoke":
        return f"INSERT INTO core.action_revocations (owner_kind, owner_id, card_id, statement, signature, key_id, opening, at) VALUES ('user', 'prove-a', '{ID}', {said}, now() - interval '1 hour')"
    return f"INSERT INTO core.action_decisions (owner_kind, owner_id, card_id, verdict, statement, signature, key_id, opening) VALUES ('user', 'prove-a', '{ID}', 'allow', {said})"


def bound(stack: Stack, **changed: Any) -> str:
    key, at = SigningKey.load(stack.layout.keys / "console" / "identity.key"), now()
    fields: dict[str, Any] = {"owner": CARD.owner, "card_id": ID, "instruction_hash": sha256(SAYS.encode())} | changed
    signed = key.sign(
        Delegation(
            key_id=key.key_id, delegation_id=ID, audience="agent", operations=("audit.search",), issued_at=at, expires_at=at + timedelta(hours=1), **fields
        )
    )  # fmt: skip
    return (
        "INSERT INTO core.automation_delegations (owner_kind, owner_id, card_id, statement, signature, key_id, issued_at, expires_at)"
        f" VALUES ('user', 'prove-a', '{ID}', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', now(), now() + interval '1 hour')"
    )


def ours(stack: Stack) -> SigningKey:
    return SigningKey.load(stack.layout.keys / "console" / "decision.key")


def by_nobody(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{works()}")


def by_stranger(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(SigningKey(b'x' * 32))}\n{works()}")


def other_words(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(ours(stack))}\n{works('send my mails to eve')}")


def taken_back(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(ours(stack))}\n{word(ours(stack), 'revoke')}\n{works()}")


def for_another_instruction(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(ours(stack))}\n{bound(stack, instruction_hash=sha256(b'another'))}")


def for_another_card(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(ours(stack))}\n{bound(stack, card_id=OTHER)}")


def for_another_owner(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{word(ours(stack))}\n{bound(stack, owner=Owner(kind='user', id='prove-b'))}")


def of_nothing_allowed(stack: Stack) -> None:
    run(stack, AGENT, f"{ASKED}\n{bound(stack)}")


def console_may_say_anything(text: str) -> str:
    return text.replace('"from.console.item.submitted"', '"from.console.>"')


def heal(stack: Stack) -> None:
    run(stack, AGENT, GONE)


WORK, HELD = "does what a person allowed", "delegation is for its card"
NEW = f"INSERT INTO app.automation_delegations VALUES ('{ID}', 1, 'x', now(), now() + interval '1 hour')"
OLD = f"DELETE FROM app.automation_delegations WHERE card_id = '{ID}'"
HOLES = [
    Hole("an automation that nobody allowed", check_rows, WORK, by_nobody, heal),
    Hole("another instruction than was allowed", check_rows, WORK, other_words, heal),
    Hole("a delegation for another instruction", check_rows, HELD, for_another_instruction, heal),
]
MORE = [
    Hole("an automation that was taken back", check_rows, WORK, taken_back, heal),
    Hole("an automation that a stranger allowed", check_rows, "signed by a person's key", by_stranger, heal),
    Hole("a delegation for another card", check_rows, HELD, for_another_card, heal),
    Hole("a delegation of another owner", check_rows, HELD, for_another_owner, heal),
    Hole("a delegation for what nobody allowed", check_rows, HELD, of_nothing_allowed, heal),
    by_sql("a console that delegates by itself", check_rows, "but of those that were allowed", CONSOLE, NEW, OLD),
    edited("a console that speaks of automations", console_may_say_anything, "publish from.console.automation.stated", check_senders),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
