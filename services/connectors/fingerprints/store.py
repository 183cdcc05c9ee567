"""The row that says which set was taken last."""

from dataclasses import dataclass
from datetime import datetime

from shared.db import Tx

_FIRST = "INSERT INTO app.fingerprint_sets (id, version, digest, taken_at) VALUES (1, 0, '', '-infinity') ON CONFLICT DO NOTHING"
_LAST = "SELECT version, digest, taken_at > $1 AS young FROM app.fingerprint_sets WHERE id = 1 FOR UPDATE"
_TAKEN = "UPDATE app.fingerprint_sets SET version = $1, digest = $2, taken_at = $3 WHERE id = 1"


@dataclass(frozen=True)
class Last:
    """`young`: it was taken after the time that was asked for."""

    version: int
    digest: str
    young: bool


async def last_taken(tx: Tx, since: datetime) -> Last:
    """Nobody else takes one until this transaction ends."""
    await tx.raw.execute(_FIRST)
    row = await tx.raw.fetchrow(_LAST, since)
    assert row is not None, "it was just made"
    return Last(row["version"], row["digest"], row["young"])


async def set_taken(tx: Tx, version: int, digest: str, at: datetime) -> None:
    await tx.raw.execute(_TAKEN, version, digest, at)
