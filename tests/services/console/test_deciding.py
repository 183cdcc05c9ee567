"""Compare-and-swap, signatures, and what a refusal of the lock undoes."""

import asyncio
from base64 import b64decode
from typing import Any

import pytest

from schemas.bridge.v1 import DecisionRefused, Finding
from schemas.statements import Decision, Opening, Signed, Withdrawal
from services.console.people.domain import OPERATOR, Caller
from services.console.queue.domain import Order
from services.console.queue.usecases.record_refused import record_refused
from services.console.queue.usecases.withdraw_item import withdraw_item
from shared.clock import now
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.ids import new_id
from shared.signing import PublicKeys
from shared.testing.servers import Servers
from tests.services.console.conftest import MARA, TOM, Desk


def signed_in(envelope: dict[str, Any]) -> Signed:
    told = envelope["data"]["statement"]
    return Signed(payload=b64decode(told["payload"]), signature=b64decode(told["signature"]), key_id=told["key_id"])


async def test_a_decision_is_signed_over_what_the_reviewer_saw(desk: Desk, servers: Servers) -> None:
    made = await desk.queue()
    decided = await desk.decide(made.order("request_changes", "say more"))
    [event] = await desk.staged(made)
    keys = PublicKeys.load(servers.settings("console").public_keys)
    decision = keys.verify("decision", signed_in(event), Decision)
    assert (decision.item_id, decision.revision, decision.content_hash) == (made.item_id, 1, made.content_hash)
    assert (decision.verdict, decision.prior_version, decision.path) == ("request_changes", made.version, made.path)
    opening = Opening.model_validate(event["data"]["opening"])
    assert opening.commitment == decision.decider
    assert (opening.person_id, opening.reason) == (MARA.id, "say more")
    assert (await desk.item(made))["deciding"] == decided.statement_hash


async def test_of_two_reviewers_at_once_one_wins_and_the_other_learns_who(desk: Desk) -> None:
    made = await desk.queue()
    answers = await asyncio.gather(
        desk.decide(made.order("approve"), MARA), desk.decide(made.order("reject", "no"), TOM), return_exceptions=True
    )
    [lost] = [each for each in answers if isinstance(each, Conflict)]
    winner = MARA if answers[1] is lost else TOM
    assert f"{winner.name} decided this revision at" in lost.message
    assert len(await desk.staged(made)) == 1


async def test_a_double_click_is_one_decision(desk: Desk) -> None:
    made = await desk.queue()
    first, second = await asyncio.gather(desk.decide(made.order()), desk.decide(made.order()))
    assert first.statement_hash == second.statement_hash
    assert {first.repeated, second.repeated} == {True, False}
    assert len(await desk.staged(made)) == 1


async def test_a_newer_revision_refuses_a_decision_on_the_older(desk: Desk) -> None:
    made = await desk.queue("first")
    await desk.queue("second", of=made)
    with pytest.raises(Conflict, match="Revision 2 came in at"):
        await desk.decide(made.order())
    assert (await desk.item(made))["deciding"] is None


async def test_an_item_that_moved_on_refuses_what_was_decided_before(desk: Desk) -> None:
    made = await desk.queue()
    await desk.publish(made)
    with pytest.raises(Conflict, match="Mara Okonjo"):
        await desk.decide(Order(made.item_id, "reject", "late", 1, made.content_hash, made.version), TOM)


@pytest.mark.parametrize("role", ["viewer", "member"])
async def test_who_may_not_decide_cannot_in_the_use_case_either(desk: Desk, role: Any) -> None:
    made = await desk.queue()
    with pytest.raises(Forbidden, match=f"A {role} may not decide"):
        await desk.decide(made.order(), Caller("p", "P", role))
    assert await desk.staged(made) == []


async def test_what_the_lock_stopped_is_not_approved(desk: Desk) -> None:
    made = await desk.queue(findings=(Finding(level="block", rule="private-key", message="a private key"),))
    with pytest.raises(Conflict):
        await desk.decide(made.order())


@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
async def test_a_no_needs_a_reason(desk: Desk, verdict: str) -> None:
    made = await desk.queue()
    with pytest.raises(Refused, match="A reason is needed"):
        await desk.decide(made.order(verdict, "  "))


async def test_an_unknown_item_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        await desk.decide(Order(new_id(), "approve"))


async def set_switch(desk: Desk, name: str, value: str) -> None:
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "INSERT INTO app.switches (name, value, by_name, reason, at, version) VALUES ($1, $2, 'L', 'r', now(), 1)",
            name,
            value,
        )


async def test_four_eyes_stops_the_author_and_the_operator(desk: Desk) -> None:
    await set_switch(desk, "four_eyes", "on")
    made = await desk.queue(by=MARA.id)
    for caller in (MARA, OPERATOR):
        with pytest.raises(Refused, match="Four eyes"):
            await desk.decide(made.order(), caller)
    await desk.decide(made.order(), TOM)


async def test_frozen_stops_approvals_and_lets_a_no_through(desk: Desk) -> None:
    await set_switch(desk, "publication_mode", "frozen")
    made = await desk.queue()
    with pytest.raises(Refused, match="frozen"):
        await desk.decide(made.order())
    await desk.decide(made.order("reject", "not now"))


async def test_a_refusal_of_the_lock_is_kept_and_the_item_waits_again(desk: Desk) -> None:
    made = await desk.queue()
    decided = await desk.decide(made.order())
    refusal = DecisionRefused(
        item_id=made.item_id,
        statement_hash=decided.statement_hash,
        code="frozen",
        reason="publication is frozen",
        at=now(),
    )
    async with desk.db.transaction() as tx:
        await record_refused(tx, refusal)
    row = await desk.item(made)
    assert (row["deciding"], row["decided_name"], row["state"]) == (None, None, "submitted")
    [kept] = await desk.rows("SELECT * FROM app.decisions WHERE item_id = $1", made.item_id)
    assert (kept["outcome"], kept["outcome_reason"]) == ("refused", "publication is frozen")
    again = await desk.decide(made.order())
    assert not again.repeated


async def test_a_withdrawal_is_signed_and_needs_something_public(desk: Desk, servers: Servers) -> None:
    made = await desk.queue()
    async with desk.db.transaction() as tx:
        with pytest.raises(Refused, match="nothing to withdraw"):
            await withdraw_item(tx, desk.key, MARA, made.item_id, "")
    await desk.publish(made)
    async with desk.db.transaction() as tx:
        await withdraw_item(tx, desk.key, MARA, made.item_id, "wrong figure", made.version)
    [event] = await desk.staged(made)
    statement = PublicKeys.load(servers.settings("console").public_keys).verify(
        "decision", signed_in(event), Withdrawal
    )
    assert (statement.item_id, statement.prior_version) == (made.item_id, made.version)
