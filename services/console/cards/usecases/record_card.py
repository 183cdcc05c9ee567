"""The connectors ask a person, and say what became of a card."""

from schemas.connectors.v1 import CardRequested, CardSettled
from schemas.text import canonical
from services.console.cards import store
from services.console.notices import store as notices
from shared.db import Tx


async def record_card(tx: Tx, requested: CardRequested) -> bool:
    """False when it was there already."""
    card = requested.card
    row = card.model_dump(include={"card_id", "asker", "connector", "requested_at", "expires_at"})
    return await store.add(tx, {**row, "card": canonical(card.model_dump(mode="json"))})


async def record_settled(tx: Tx, settled: CardSettled) -> None:
    """Who was told that it waits need not look any more."""
    await store.put_state(tx, settled.model_dump(include={"card_id", "state", "at", "version"}))
    await notices.settle(tx, "card", f"/cards/{settled.card_id}", settled.at)
    if settled.statement_hash is not None:
        await store.settle_decision(tx, settled.statement_hash, "applied")


async def record_card_refused(tx: Tx, statement_hash: str, reason: str) -> bool:
    """False when it was not about a card."""
    return await store.settle_decision(tx, statement_hash, "refused", reason) is not None
