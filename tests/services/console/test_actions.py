"""Action cards at the console: who may decide what, on exactly what was shown, once; who is told (S5, S11)."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.agency import ActionCard, ActionDecision
from schemas.agent.v1 import ActionRequested, ActionSettled
from schemas.outward import Owner
from schemas.statements import Signed
from schemas.text import sha256
from services.console.actions import store
from services.console.actions.domain import Shown, check_may_see, read_action
from services.console.actions.usecases.decide_action import Order, decide_action
from services.console.actions.usecases.record_action import (
    record_action,
    record_action_refused,
    record_action_settled,
)
from services.console.people.domain import OPERATOR, Caller
from shared.clock import now
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.ids import fresh_id
from tests.services.console.conftest import Desk

KIM = Caller(str(uuid4()), "Kim", "member")
ADMIN = Caller(str(uuid4()), "Ada", "admin")
OTHER = Caller(str(uuid4()), "Tom", "moderator")


async def asked(desk: Desk, **changed: Any) -> ActionCard:
    said: dict[str, Any] = {"own": True, "recipients": (), "sources": ("visitor",), "arguments": '{"text":"a\u202eb"}'}
    said |= {"requested_at": now(), "expires_at": now() + timedelta(days=7)} | changed
    card = ActionCard(
        card_id=fresh_id(), owner=Owner(kind="user", id=KIM.id), owner_name="Kim", conversation_id=fresh_id(), tool="remember", **said
    )  # fmt: skip
    async with desk.db.transaction() as tx:
        assert await record_action(tx, ActionRequested(card=card))
        assert not await record_action(tx, ActionRequested(card=card))
    return card


async def decide(desk: Desk, caller: Caller, card: ActionCard, verdict: str = "allow", reason: str = "", seen: str | None = None) -> str:  # fmt: skip
    async with desk.db.transaction() as tx:
        return await decide_action(tx, desk.key, caller, Order(card.card_id, verdict, reason, seen or card.hash))


async def shown(desk: Desk, card: ActionCard) -> Shown:
    async with desk.db.reading() as tx:
        row = await store.one(tx, card.card_id)
    assert row is not None
    return read_action(row, now())


async def settled(desk: Desk, card: ActionCard, state: Any, statement_hash: str | None = None) -> None:
    fact = ActionSettled(card_id=card.card_id, state=state, reason="remembered", statement_hash=statement_hash, at=now(), version=2)  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_action_settled(tx, fact)


async def test_exactly_what_was_shown_is_signed(desk: Desk) -> None:
    card = await asked(desk)
    statement_hash = await decide(desk, KIM, card)
    [row] = await desk.rows("SELECT body FROM app.outbox WHERE key = $1", f"action:{card.card_id}")
    signed = Signed.model_validate(json.loads(row["body"])["data"]["statement"])
    statement = ActionDecision.from_bytes(signed.payload)
    assert (signed.hash, statement.card_hash, statement.verdict) == (statement_hash, card.hash, "allow")
    assert (await shown(desk, card)).on_its_way == "allow"
    with pytest.raises(Conflict, match="on its way"):
        await decide(desk, ADMIN, card, "refuse", "no")
    await settled(desk, card, "done", statement_hash)
    found = await shown(desk, card)
    assert (found.state, found.row["reason"], found.on_its_way, list(found.arguments)) == ("done", "remembered", "", [("text", "a\u202eb")])  # fmt: skip
    with pytest.raises(Conflict, match="done already by Kim"):
        await decide(desk, ADMIN, card)


async def test_who_may_decide(desk: Desk) -> None:
    own, reaching = await asked(desk), await asked(desk, own=False, recipients=("a@b.example",))
    with pytest.raises(NotFound):
        await decide(desk, OTHER, own)
    with pytest.raises(NotFound):
        check_may_see(OTHER, own)
    with pytest.raises(Forbidden, match="owner or admin"):
        await decide(desk, KIM, reaching)
    for card, caller in ((own, KIM), (reaching, ADMIN), (await asked(desk), OPERATOR)):
        assert await decide(desk, caller, card)


@pytest.mark.parametrize(
    ("verdict", "reason", "seen", "error"),
    [
        ("refuse", "", None, Refused),
        ("revoke", "x", None, Refused),
        ("allow", "x" * 501, None, Refused),
        ("allow", "", sha256(b"another"), Conflict),
    ],
)
async def test_what_is_no_decision(desk: Desk, verdict: str, reason: str, seen: str | None, error: type[Exception]) -> None:  # fmt: skip
    card = await asked(desk)
    with pytest.raises(error):
        await decide(desk, KIM, card, verdict, reason, seen)
    assert (await shown(desk, card)).is_pending


async def test_what_the_lock_did_not_let_through_can_be_decided_again(desk: Desk) -> None:
    card = await asked(desk)
    statement_hash = await decide(desk, KIM, card)
    async with desk.db.transaction() as tx:
        assert await record_action_refused(tx, statement_hash, "the key was revoked")
        assert not await record_action_refused(tx, statement_hash, "the key was revoked")
    assert (await shown(desk, card)).is_pending
    assert await decide(desk, KIM, card)


async def test_a_word_that_comes_before_its_card_counts(desk: Desk) -> None:
    card = ActionCard(
        card_id=fresh_id(), owner=Owner(kind="user", id=KIM.id), owner_name="Kim", conversation_id=fresh_id(), tool="remember",
        arguments="{}", own=True, requested_at=now(), expires_at=now() + timedelta(days=7),
    )  # fmt: skip
    await settled(desk, card, "expired")
    async with desk.db.transaction() as tx:
        await record_action(tx, ActionRequested(card=card))
        waiting = await store.waiting(tx, now(), KIM.id)
    assert card.card_id not in [row["card_id"] for row in waiting]
    with pytest.raises(Conflict):
        await decide(desk, ADMIN, card)


async def test_nobody_decides_when_its_time_is_over(desk: Desk) -> None:
    card = await asked(desk, expires_at=now() - timedelta(seconds=1))
    with pytest.raises(Conflict, match="expired"):
        await decide(desk, KIM, card)
