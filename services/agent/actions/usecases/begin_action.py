"""What a person has allowed is begun, once: checked against the card and the decision as they stand now."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.agency import ActionCard, ActionDecision
from services.agent.actions import store
from services.agent.actions.domain import INTERRUPTED, TAKEN_BACK, Place, card_hash, read_card
from services.agent.actions.usecases.end_action import end_action
from services.agent.owners.deciders import Deciders
from shared.db import Tx
from shared.errors import BadSignature


@dataclass(frozen=True)
class Begun:
    """An action that this process alone may run. `statement_hash`: the decision's."""

    place: Place
    card: ActionCard
    turn_id: UUID
    statement_hash: str


async def begin_action(tx: Tx, place: Place, deciders: Deciders, part: str, at: datetime) -> Begun | None:
    """None when nothing is to be run; then it has ended, and why is written. The transaction acts for the owner."""
    row = await store.card(tx, place.owner, place.card_id)
    decided = await store.decision(tx, place.owner, place.card_id)
    if row is None or decided is None:
        await end_action(tx, place, "failed", "the card or its decision is not there any more", at)
        return None
    signed, opening = decided
    if await store.is_revoked(tx, place.owner, place.card_id):
        await end_action(tx, place, "failed", TAKEN_BACK, at, decided[0].hash)
        return None
    try:
        decision = await deciders.verify_by(tx, signed, opening, ActionDecision)
        _check(decision, place, row["card"])
    except BadSignature as error:
        await end_action(tx, place, "failed", error.message, at, signed.hash)
        return None
    if not await store.begin(tx, place, part):
        await end_action(tx, place, "failed", INTERRUPTED, at, signed.hash)
        return None
    await store.move(tx, place.card_id, "running", at, part)
    return Begun(place, read_card(row["card"]), row["turn_id"], signed.hash)


def _check(decision: ActionDecision, place: Place, raw: bytes) -> None:
    """What was decided is what stands there now."""
    if decision.card_id != place.card_id or decision.card_hash != card_hash(raw):
        raise BadSignature("the decision is about other words than those of the card")
    if decision.verdict != "allow":
        raise BadSignature("the decision does not allow it")
    if read_card(raw).owner != place.owner:
        raise BadSignature("the card is another owner's")
