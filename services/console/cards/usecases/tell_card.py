"""Somebody waits for a person: owners and admins are told."""

from schemas.outward import Card
from services.console.notices import store
from services.console.notices.domain import Notice
from shared.clock import now
from shared.db import Tx


async def tell_card(tx: Tx, card: Card) -> list[Notice]:
    """What was written. The asker's own words are not repeated here."""
    what = ", ".join((*card.operations, *card.hosts)) or "a secret"
    text = f"{card.asker} waits for a decision: {card.connector}, {what}"[:500]
    found = [Notice(each, "card", text, f"/cards/{card.card_id}") for each in await store.deciders(tx)]
    if found:
        await store.add(tx, found, now())
    return found
