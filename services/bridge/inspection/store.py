"""The fingerprints' rows: of our own secrets, and, event by event as they came, of the console's internal columns."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

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
_KEEP_COLUMN = """INSERT INTO app.column_fingerprints (column_id, sequence, key_id, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (column_id, sequence) DO UPDATE SET (key_id, body) = (excluded.key_id, excluded.body) WHERE column_fingerprints.key_id <> excluded.key_id"""
_FORGET = "DELETE FROM app.column_fingerprints WHERE column_id = $1 AND (sequence < $2 OR key_id <> $3)"
_STANDS = "SELECT column_id, sequence FROM app.column_fingerprints WHERE key_id = $1 ORDER BY column_id, sequence"
_SOME = "SELECT sequence, body FROM app.column_fingerprints WHERE column_id = $1 AND sequence = ANY ($2::bigint[])"
_FINDINGS = "SELECT findings FROM core.revisions WHERE item_id = $1 AND revision = $2"


async def newest_fingerprints(tx: Tx) -> Sequence[Record]:
    """The parts of the newest complete set."""
    return await tx.raw.fetch(_NEWEST)


async def keep_fingerprints(tx: Tx, version: int, part: int, parts: int, body: bytes) -> None:
    """Older sets go when a newer one is complete."""
    await tx.raw.execute(_KEEP, version, part, parts, body)
    await tx.raw.execute(_CLEAR)


async def keep_column(tx: Tx, column: UUID, sequence: int, key_id: str, whole: bool, body: bytes) -> None:
    """`whole`: what came earlier of this column, and with other keys, is not needed any more."""
    await tx.raw.execute(_KEEP_COLUMN, column, sequence, key_id, body)
    if whole:
        await tx.raw.execute(_FORGET, column, sequence, key_id)


async def column_events(tx: Tx, key_id: str) -> Sequence[Record]:
    """Which events of this key there are."""
    return await tx.raw.fetch(_STANDS, key_id)


async def some_column_events(tx: Tx, column: UUID, sequences: Sequence[int]) -> Sequence[Record]:
    """Events of a column, as they came."""
    return await tx.raw.fetch(_SOME, column, sequences)


async def shown_findings(tx: Tx, item_id: UUID, revision: int) -> list[Any]:
    """What a reviewer is shown of a revision, as it was stored."""
    found: list[Any] = json.loads(await tx.raw.fetchval(_FINDINGS, item_id, revision) or "[]")
    return found
