"""An owner or admin allows, refuses, or takes back. Signed over exactly what the card says; in force when the connectors say so (S5)."""

from dataclasses import dataclass
from uuid import UUID

from schemas.console.v1 import CardDecided
from schemas.outward import CardDecision
from services.console.cards import store
from services.console.cards.domain import check_decidable, check_reason, check_verdict, read_card
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.signing import SigningKey


@dataclass(frozen=True)
class Order:
    """`seen`: the hash of the card as it was shown; None from the operator, who names the card alone."""

    card_id: UUID
    verdict: str
    reason: str = ""
    seen: str | None = None


async def decide_card(tx: Tx, key: SigningKey, caller: Caller, order: Order) -> str:
    """The statement's hash. Conflict says who was first."""
    caller.require("connectors")
    verdict = check_verdict(order.verdict)
    reason = check_reason(verdict, order.reason)
    row, at = await store.one(tx, order.card_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such card.")
    shown = read_card(row, at)
    check_decidable(shown, verdict, order.seen, at)
    opening = make_opening(caller, reason)
    statement = CardDecision(
        key_id=key.key_id,
        card_id=order.card_id,
        card_hash=shown.hash,
        verdict=verdict,
        decided_at=at,
        decider=opening.commitment,
    )
    signed = key.sign(statement)
    who = {"by_id": caller.id, "by_name": caller.name, "by_via": caller.via}
    made = {"statement_hash": signed.hash, "card_id": order.card_id, "verdict": verdict, "reason": reason}
    await store.add_decision(tx, {**made, **who, "at": at, "outcome": "sent"})
    data = CardDecided(card_id=order.card_id, statement=signed, opening=opening)
    number = await next_version(tx, f"card:{order.card_id}")
    tx.stage("card.decided", data, key=f"card:{order.card_id}", version=number, actor=caller.name)
    return signed.hash
