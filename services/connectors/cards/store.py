"""Which expired cards were told of."""

from uuid import UUID

from shared.db import Tx

_NOTE = "INSERT INTO app.expired_cards (card_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING card_id"
_NOTED = "SELECT card_id FROM app.expired_cards"


async def note_expired(tx: Tx, card_id: UUID) -> bool:
    """False when it was noted before."""
    return await tx.raw.fetchval(_NOTE, card_id) is not None


async def noted_expired(tx: Tx) -> set[UUID]:
    return {row["card_id"] for row in await tx.raw.fetch(_NOTED)}
