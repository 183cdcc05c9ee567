"""Automations at the console: for which the agent is told that it may act, and taking one back (rule 28, S10)."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agency import AUTOMATE, ActionCard, ActionDecision
from schemas.agent.v1 import ActionRequested, ActionSettled, AutomationStated
from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from schemas.text import canonical, sha256
from services.console.actions.usecases.decide_action import Order, decide_action
from services.console.actions.usecases.record_action import record_action, record_action_settled
from services.console.automations import store
from services.console.automations.domain import read_automation
from services.console.automations.usecases.record_automation import record_automation
from services.console.automations.usecases.renew_automations import FIRST, renew_automations
from services.console.automations.usecases.revoke_automation import Revocation, revoke_automation
from services.console.people.domain import Caller
from services.console.people.passwords import Passwords
from services.console.people.usecases.change_role import change_role
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from shared.ids import fresh_id
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk
from tests.services.console.joining import OWNER, joined
from tests.services.console.test_access import told
from tests.services.console.test_actions import settled

ADMIN = Caller(str(uuid4()), "Ada", "admin")
SAYS = "summarise my mails"


async def asked(desk: Desk, owner_id: str, tool: str = AUTOMATE, says: str = SAYS) -> ActionCard:
    said = canonical({"instruction": says, "title": "Mails", "when": "every day at 7", "words": "every day at 07:00"})
    card = ActionCard(
        card_id=fresh_id(), owner=Owner(kind="user", id=owner_id), owner_name="Kim", conversation_id=fresh_id(), tool=tool, arguments=said.decode(),
        own=False, requested_at=now(), expires_at=now() + timedelta(days=7),
    )  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_action(tx, ActionRequested(card=card))
    return card


async def allow(desk: Desk, card: ActionCard, verdict: str = "allow") -> None:
    async with desk.db.transaction() as tx:
        statement = await decide_action(tx, desk.key, ADMIN, Order(card.card_id, verdict, "as agreed"))
    await settled(desk, card, "done" if verdict == "allow" else "refused", statement)


async def state(desk: Desk, card: ActionCard, state: Any = "active", version: int = 1, **changed: Any) -> None:
    said: dict[str, Any] = {
        "owner": card.owner,
        "instruction_hash": sha256(SAYS.encode()),
        "task_id": card.card_id,
    } | changed
    async with desk.db.transaction() as tx:
        await record_automation(tx, AutomationStated(card_id=card.card_id, state=state, zone="UTC", at=now(), version=version, **said))  # fmt: skip


async def renew(desk: Desk) -> None:
    after: UUID | None = FIRST
    while after is not None:
        async with desk.db.transaction() as tx:
            after = await renew_automations(tx, desk.issuer, after, 3)


async def issued(desk: Desk, card: ActionCard, keys: PublicKeys) -> list[Delegation]:
    await renew(desk)
    found = await told(desk, "delegation.issued", f"delegation:card:{card.card_id}")
    return [keys.verify("identity", Signed.model_validate(each["data"]["delegation"]), Delegation) for each in found]


async def revoke(desk: Desk, caller: Caller, card: ActionCard, reason: str = "enough") -> str:
    async with desk.db.transaction() as tx:
        return await revoke_automation(tx, desk.key, caller, Revocation(card.card_id, reason))


async def test_what_was_allowed_is_delegated_for_by_its_card_and_its_instruction_and_renewed(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, _ = await joined(desk, passwords, "member")
    card = await asked(desk, caller.id)
    await state(desk, card)
    assert await issued(desk, card, keys) == [], "the agent's word alone opens nothing"
    await allow(desk, card)
    [first] = await issued(desk, card, keys)
    assert (first.card_id, first.instruction_hash, str(first.owner)) == (card.card_id, sha256(SAYS.encode()), f"user:{caller.id}")  # fmt: skip
    assert first.expires_at - first.issued_at == timedelta(hours=12)
    assert len(await issued(desk, card, keys)) == 1, "while it has time left, there is no other"
    await desk.rows("UPDATE app.automation_delegations SET expires_at = now() + interval '5 hours' WHERE card_id = $1 RETURNING 1", card.card_id)  # fmt: skip
    assert len(await issued(desk, card, keys)) == 2
    await state(desk, card, "paused", 2)
    await desk.rows("UPDATE app.automation_delegations SET operations_hash = 'old' WHERE card_id = $1 RETURNING 1", card.card_id)  # fmt: skip
    assert len(await issued(desk, card, keys)) == 3, "connectors have changed"


@pytest.mark.parametrize("why", ["refused", "another tool", "another instruction", "another owner", "ended", "shut out", "taken back"])  # fmt: skip
async def test_for_nothing_else_the_agent_is_told_that_it_may_act(
    desk: Desk, passwords: Passwords, keys: PublicKeys, why: str
) -> None:
    caller, _ = await joined(desk, passwords, "member")
    card = await asked(desk, caller.id, "remember" if why == "another tool" else AUTOMATE)
    await allow(desk, card, "refuse" if why == "refused" else "allow")
    changes: dict[str, dict[str, Any]] = {
        "another instruction": {"instruction_hash": sha256(b"send them to eve")},
        "another owner": {"owner": Owner(kind="user", id=str(uuid4()))},
        "ended": {"state": "ended"},
    }
    await state(desk, card, **changes.get(why, {}))
    if why == "taken back":
        await revoke(desk, ADMIN, card)
    if why == "shut out":
        async with desk.db.transaction() as tx:
            await change_role(tx, desk.issuer, OWNER, UUID(caller.id), None, disabled=True)
    assert await issued(desk, card, keys) == []


async def test_it_is_taken_back_once_by_a_signed_word_of_whoever_may(desk: Desk, passwords: Passwords) -> None:
    caller, _ = await joined(desk, passwords, "member")
    other, _ = await joined(desk, passwords, "moderator")
    card = await asked(desk, caller.id)
    with pytest.raises(Conflict, match="was allowed"):
        await revoke(desk, ADMIN, card)
    await allow(desk, card)
    await state(desk, card)
    with pytest.raises(NotFound):
        await revoke(desk, other, card)
    with pytest.raises(Refused, match="takes a reason"):
        await revoke(desk, caller, card, " ")
    digest = await revoke(desk, caller, card)
    row = (await desk.rows("SELECT body FROM app.outbox WHERE key = $1 ORDER BY position DESC", f"action:{card.card_id}"))[0]  # fmt: skip
    signed = Signed.model_validate(json.loads(row["body"])["data"]["statement"])
    said = ActionDecision.from_bytes(signed.payload)
    assert (signed.hash, said.verdict, said.card_hash) == (digest, "revoke", card.hash)
    with pytest.raises(Conflict, match="on its way"):
        await revoke(desk, ADMIN, card)
    async with desk.db.reading() as tx:
        found = await store.one(tx, card.card_id)
    assert found is not None and read_automation(found).on_its_way
    fact = await _revoked(desk, card, digest)
    assert fact == "revoked"
    with pytest.raises(Conflict, match="taken back already by"):
        await revoke(desk, ADMIN, card)


async def _revoked(desk: Desk, card: ActionCard, digest: str) -> str:
    fact = ActionSettled(card_id=card.card_id, state="revoked", reason="enough", statement_hash=digest, at=now(), version=3)  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_action_settled(tx, fact)
    [row] = await desk.rows("SELECT state FROM app.action_states WHERE card_id = $1", card.card_id)
    return str(row["state"])


async def test_what_was_done_once_cannot_be_taken_back(desk: Desk, passwords: Passwords) -> None:
    caller, _ = await joined(desk, passwords, "member")
    card = await asked(desk, caller.id, "remember")
    await allow(desk, card)
    with pytest.raises(Refused, match="Only an automation"):
        await revoke(desk, ADMIN, card)
