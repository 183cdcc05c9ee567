"""A person allows or refuses what the agent would do. Signed over exactly what the card says; the agent runs just that (S11)."""

from dataclasses import dataclass
from uuid import UUID

from schemas.agency import ActionDecision
from schemas.console.v1 import ActionDecided
from services.console.actions import store
from services.console.actions.domain import check_may_decide, check_undecided, check_verdict, read_action
from services.console.cards.domain import check_reason
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


async def decide_action(tx: Tx, key: SigningKey, caller: Caller, order: Order) -> str:
    """The statement's hash. Conflict says who was first."""
    row, at = await store.one(tx, order.card_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such card.")
    shown = read_action(row, at)
    check_may_decide(caller, shown.card)
    verdict = check_verdict(order.verdict)
    reason = check_reason(verdict, order.reason)
    check_undecided(shown, order.seen, at)
    opening = make_opening(caller, reason)
    statement = ActionDecision(
        key_id=key.key_id,
        card_id=order.card_id,
        card_hash=shown.hash,
        verdict=verdict,
        decided_at=at,
        decider=opening.commitment,
    )
    signed, by = key.sign(statement), (caller.id, caller.name, caller.via)
    await store.add_decision(tx, signed.hash, order.card_id, verdict, by, reason, at)
    data = ActionDecided(card_id=order.card_id, statement=signed, opening=opening)
    number = await next_version(tx, f"action:{order.card_id}")
    tx.stage("action.decided", data, key=f"action:{order.card_id}", version=number, actor=caller.name)
    return signed.hash
