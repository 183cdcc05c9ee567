"""Somebody's conversation waits for a person: who may decide is told."""

from schemas.agency import ActionCard
from services.console.notices import store
from services.console.notices.domain import Notice
from shared.clock import now
from shared.db import Tx


async def tell_action(tx: Tx, card: ActionCard) -> list[Notice]:
    """What was written. What touches only its owner's things bothers nobody else; the card's own words are not repeated here."""
    to = f", to {', '.join(card.recipients)}" if card.recipients else ""
    text = f"The agent waits for a decision: {card.tool}{to}"[:500]
    persons = [card.owner.id] if card.own else await store.deciders(tx)
    found = [Notice(each, "card", text, f"/actions/{card.card_id}") for each in persons]
    if found:
        await store.add(tx, found, now())
    return found
