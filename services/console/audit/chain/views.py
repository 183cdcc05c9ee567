"""What is read to recompute the copy of the call audit, and where that stands."""

from collections.abc import Sequence

from asyncpg import Record

from services.console.audit.domain import FIELDS
from shared.db import Tx

BLOCK = 1000
"""Entries whose hashes are compared with other places' at once."""
_AFTER = f"SELECT {', '.join(FIELDS)}, hash FROM app.calls WHERE seq > $1 ORDER BY seq, entry_id LIMIT $2"  # noqa: S608 - names of ours
_CHECKPOINTS = """
SELECT size, root, at, statement, signature, key_id, statement_hash, witness, witness_signature, witness_key_id, arrived_at
  FROM app.audit_checkpoints WHERE size > $1 ORDER BY size LIMIT $2"""
_CHAIN = """
SELECT c.*, (SELECT max(seq) FROM app.calls) AS newest FROM app.audit_chain c"""
_NEWEST_CHECKPOINT = """
SELECT size, root, at, statement_hash, key_id, witness_key_id, arrived_at FROM app.audit_checkpoints ORDER BY size DESC LIMIT 1"""
_BETWEEN = "SELECT size, at, root FROM app.audit_checkpoints WHERE size BETWEEN $1 AND $2 ORDER BY size DESC LIMIT $3"
_BLOCKS = f"""
SELECT seq / {BLOCK} AS block, count(hash) AS entries, max(seq) AS newest,
       encode(sha256(convert_to(string_agg(hash, '' ORDER BY seq), 'UTF8')), 'hex') AS digest
  FROM app.calls GROUP BY 1 ORDER BY 1"""  # noqa: S608 - of constants
_HASHES = "SELECT seq, hash FROM app.calls WHERE seq BETWEEN $1 AND $2 ORDER BY seq"


async def entries_after(tx: Tx, seq: int, limit: int) -> Sequence[Record]:
    return await tx.raw.fetch(_AFTER, seq, limit)


async def checkpoints_after(tx: Tx, size: int, limit: int) -> Sequence[Record]:
    return await tx.raw.fetch(_CHECKPOINTS, size, limit)


async def chain(tx: Tx) -> Record | None:
    """How far the copy was recomputed, and `newest`, the highest number that has arrived."""
    return await tx.raw.fetchrow(_CHAIN)


async def newest_checkpoint(tx: Tx) -> Record | None:
    return await tx.raw.fetchrow(_NEWEST_CHECKPOINT)


async def checkpoints_between(tx: Tx, first: int, last: int, limit: int) -> Sequence[Record]:
    """Those over `first` to `last` entries, largest first."""
    return await tx.raw.fetch(_BETWEEN, first, last, limit)


async def blocks(tx: Tx) -> Sequence[Record]:
    """block, entries, newest, digest of their hashes."""
    return await tx.raw.fetch(_BLOCKS)


async def hashes(tx: Tx, first: int, last: int) -> list[tuple[int, str | None]]:
    return [(row[0], row[1]) for row in await tx.raw.fetch(_HASHES, first, last)]
