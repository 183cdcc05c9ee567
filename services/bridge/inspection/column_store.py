"""The rows of what the console told of its internal columns, event by event, as they came."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from shared.db import Tx

_KEEP = "INSERT INTO app.column_fingerprints (column_id, sequence, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
_FORGET = "DELETE FROM app.column_fingerprints WHERE column_id = $1 AND sequence < $2"
_STANDS = "SELECT column_id, sequence FROM app.column_fingerprints ORDER BY column_id, sequence"
_AFTER = "SELECT column_id, sequence, body FROM app.column_fingerprints WHERE column_id = $1 AND sequence > $2 ORDER BY sequence"


async def keep(tx: Tx, column: UUID, sequence: int, whole: bool, body: bytes) -> None:
    """`whole`: what came earlier of this column is not needed any more."""
    await tx.raw.execute(_KEEP, column, sequence, body)
    if whole:
        await tx.raw.execute(_FORGET, column, sequence)


async def stands(tx: Tx) -> Sequence[Record]:
    """Which events there are."""
    return await tx.raw.fetch(_STANDS)


async def after(tx: Tx, column: UUID, sequence: int) -> Sequence[Record]:
    """A column's events after one of them, in order."""
    return await tx.raw.fetch(_AFTER, column, sequence)
