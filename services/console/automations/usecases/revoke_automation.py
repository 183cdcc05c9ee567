"""A person takes an automation back that was allowed: it runs no more, and the connectors act for it no more (rule 28). Signed."""

from dataclasses import dataclass
from uuid import UUID

from schemas.agency import ActionDecision
from schemas.console.v1 import ActionDecided
from services.console.actions import store as actions
from services.console.actions.domain import read_action
from services.console.automations.domain import check_revocable
from services.console.cards.domain import check_reason
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.signing import SigningKey


@dataclass(frozen=True)
class Revocation:
    card_id: UUID
    reason: str


async def revoke_automation(tx: Tx, key: SigningKey, caller: Caller, order: Revocation) -> str:
    """The statement's hash. Conflict says who was first, or that there is nothing to take back."""
    row, at = await actions.one(tx, order.card_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such automation.")
    shown = read_action(row, at)
    check_revocable(caller, shown.card, row, at)
    reason = check_reason("revoke", order.reason)
    opening = make_opening(caller, reason)
    statement = ActionDecision(
        key_id=key.key_id, card_id=order.card_id, card_hash=shown.hash, verdict="revoke", decided_at=at, decider=opening.commitment
    )  # fmt: skip
    signed, by = key.sign(statement), (caller.id, caller.name, caller.via)
    await actions.add_decision(tx, signed.hash, order.card_id, "revoke", by, reason, at)
    data = ActionDecided(card_id=order.card_id, statement=signed, opening=opening)
    number = await next_version(tx, f"action:{order.card_id}")
    tx.stage("action.decided", data, key=f"action:{order.card_id}", version=number, actor=caller.name)
    return signed.hash
