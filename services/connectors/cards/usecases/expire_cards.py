"""Nobody decided in seven days: whoever waited is told, once."""

from datetime import datetime

from schemas.connectors.v1 import CardSettled
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book.domain import Decided
from services.connectors.book.keeper import Keeper
from services.connectors.cards import store
from shared.db import Tx


async def expire_cards(tx: Tx, keeper: Keeper, at: datetime) -> int:
    """How many were told of now. Under the book's lock: a decision comes before or after, never in between."""
    book, _ = await keeper.locked(tx)
    told = await store.noted_expired(tx)
    over = [each for each in book.cards.values() if each.state(at) == "expired" and each.card.card_id not in told]
    fresh = [each for each in over if await store.note_expired(tx, each.card.card_id)]
    for each in fresh:
        card = each.card
        fact = CardSettled(card_id=card.card_id, asker=card.asker, state="expired", at=at, version=1)
        tx.stage("card.settled", fact, key=f"card:{card.card_id}", version=1)
    await record_notes(tx, [_note(each) for each in fresh])
    return len(fresh)


def _note(decided: Decided) -> Note:
    card = decided.card
    return Note(
        call_id=card.card_id,
        asker=card.asker,
        operation="card.expire",
        outcome="noted",
        on_behalf_of=str(card.on_behalf_of or ""),
        connector=card.connector,
        target=f"card {card.card_id}",
    )
