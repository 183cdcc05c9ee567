"""A person's decision on an action card arrives: verified here once more, bound to exactly what the card says (S5)."""

from datetime import datetime

from schemas.agency import ActionDecision
from schemas.console.v1 import ActionDecided
from services.agent.actions import store
from services.agent.actions.domain import Place, card_hash
from services.agent.actions.usecases.end_action import end_action
from services.agent.actions.usecases.revoke_action import revoke_action
from services.agent.owners.deciders import Deciders
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature, Permanent


async def record_decision(tx: Tx, event: Received[ActionDecided], deciders: Deciders, at: datetime) -> None:
    """Allowed: it may run, once. Revoked: an automation runs no more. Parked (BadSignature, Permanent) when it is no person's word, or about other words than the card's."""
    data = event.data
    place = await store.place(tx, data.card_id, lock=True)
    if place is None:
        raise Permanent(f"there is no action card {data.card_id}", code="card")
    if event.sender != "console":
        raise BadSignature(f"{event.sender} cannot decide; a person decides in the console")
    decision = await deciders.verify_by(tx, data.statement, data.opening, ActionDecision)
    if decision.card_id != data.card_id:
        raise BadSignature("the signed statement is about another card")
    if decision.verdict == "revoke":
        await revoke_action(tx, event, place, decision, at)
        return
    if place.phase != "waiting":
        return  # the first decision counts
    async with tx.acting_for(place.owner):
        await _keep(tx, event, place, decision, at)


async def _keep(tx: Tx, event: Received[ActionDecided], place: Place, decision: ActionDecision, at: datetime) -> None:
    row, signed, opening = await store.card(tx, place.owner, place.card_id), event.data.statement, event.data.opening
    if row is None or card_hash(row["card"]) != decision.card_hash:
        raise BadSignature("the decision is about other words than those of the card")
    await store.add_decision(tx, place, decision.verdict, signed, opening)
    if decision.decided_at >= place.expires_at:
        await end_action(tx, place, "expired", "", at, signed.hash)
    elif decision.verdict == "refuse":
        await end_action(tx, place, "refused", opening.reason[:400], at, signed.hash)
    else:
        await store.move(tx, place.card_id, "decided", at)
