"""What nobody has allowed yet becomes a card for a person, once (rule 28)."""

from datetime import datetime
from uuid import UUID

from schemas.connectors.v1 import CardRequested
from schemas.text import canonical
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book import store
from services.connectors.book.domain import Book, Decided
from services.connectors.book.keeper import Keeper
from services.connectors.cards.domain import MOST_WAITING, Use, make_card
from services.connectors.cards.grants import Missing, missing, pending, refused, waiting
from shared.clock import now
from shared.db import Tx
from shared.errors import TooMany
from shared.ids import fresh_id


def known_card(book: Book, use: Use, lacking: Missing, at: datetime) -> Decided | None:
    """The refused or waiting card that covers what is missing. TooMany when there is none and too many cards of this asker wait already."""
    known = refused(book, use.asker, use.connector, lacking, at) or pending(book, use.asker, use.connector, lacking, at)
    if known is None and waiting(book, use.asker, at) >= MOST_WAITING:
        raise TooMany(
            f"{MOST_WAITING} cards of {use.asker} wait for a person already; an owner or admin decides them in the console",
            code="cards",
        )
    return known


async def request_card(tx: Tx, keeper: Keeper, use: Use, call_id: UUID) -> Decided | None:
    """The refused or waiting card that covers what is missing, or a new one; None when everything is granted by now.

    Under the book's lock, so that two calls make one card. TooMany when too many cards of this asker wait already.
    """
    book, _ = await keeper.locked(tx)
    at = now()
    lacking = missing(book, use.asker, use.connector, use.operation, use.hosts, use.places, at)
    if lacking is None:
        return None
    known = known_card(book, use, lacking, at)
    if known is not None:
        return known
    card = make_card(fresh_id(), use, lacking, book, at)
    await store.add_card(tx, card, canonical(card.model_dump(mode="json")))
    tx.stage("card.requested", CardRequested(card=card), key=f"card:{card.card_id}", version=1)
    await record_notes(tx, [_note(use, call_id, card.card_id)])
    keeper.written(tx)
    return Decided(card)


def _note(use: Use, call_id: UUID, card_id: UUID) -> Note:
    return Note(
        call_id=call_id,
        asker=use.asker,
        operation="card.request",
        outcome="noted",
        on_behalf_of=str(use.owner or ""),
        connector=use.connector,
        target=f"card {card_id}",
        detail=use.operation,
    )
