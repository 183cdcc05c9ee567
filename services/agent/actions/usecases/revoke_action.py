"""A person takes back what they had allowed: an automation runs no more (rule 28)."""

from datetime import datetime

from schemas.agency import AUTOMATE, ActionDecision
from schemas.agent.v1 import ActionSettled
from schemas.console.v1 import ActionDecided
from services.agent.actions import store
from services.agent.actions.domain import TAKEN_BACK, Place, card_hash
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature, Permanent


async def revoke_action(
    tx: Tx, event: Received[ActionDecided], place: Place, decision: ActionDecision, at: datetime
) -> None:
    """Kept, and in force from its commit on. Permanent for what was no automation: what was done once cannot be taken back."""
    signed, opening = event.data.statement, event.data.opening
    async with tx.acting_for(place.owner):
        row = await store.card(tx, place.owner, place.card_id)
        if row is None or card_hash(row["card"]) != decision.card_hash:
            raise BadSignature("the decision is about other words than those of the card")
        if row["tool"] != AUTOMATE or place.phase == "waiting":
            raise Permanent("only an automation that was allowed can be taken back", code="revoke")
        if not await store.revoke(tx, place, signed, opening):
            return
        fact = ActionSettled(
            card_id=place.card_id, state="revoked", reason=(opening.reason or TAKEN_BACK)[:400], statement_hash=signed.hash, at=at, version=3
        )  # fmt: skip
        tx.stage("action.settled", fact, key=f"action:{place.card_id}", version=3)
