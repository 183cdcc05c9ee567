"""The fingerprints' rows."""

from collections.abc import Sequence

from asyncpg import Record

from shared.db import Tx

_NEWEST = """
SELECT version, part, parts, body FROM app.fingerprints WHERE version = (
  SELECT version FROM app.fingerprints GROUP BY version, parts HAVING count(*) = parts ORDER BY version DESC LIMIT 1)
ORDER BY part"""
_KEEP = "INSERT INTO app.fingerprints (version, part, parts, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
_CLEAR = """
DELETE FROM app.fingerprints WHERE version < (
  SELECT max(version) FROM (SELECT version FROM app.fingerprints GROUP BY version, parts HAVING count(*) = parts) complete)"""


async def newest_fingerprints(tx: Tx) -> Sequence[Record]:
    """The parts of the newest complete set."""
    return await tx.raw.fetch(_NEWEST)


async def keep_fingerprints(tx: Tx, version: int, part: int, parts: int, body: bytes) -> None:
    """Older sets go when a newer one is complete."""
    await tx.raw.execute(_KEEP, version, part, parts, body)
    await tx.raw.execute(_CLEAR)
