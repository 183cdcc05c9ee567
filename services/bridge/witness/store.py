"""What the lock keeps of the call audit: checkpoints, and the hash of every entry that crossed."""

from collections.abc import Sequence

from asyncpg import Record

from schemas.outward import Checkpoint
from schemas.statements import Signed
from shared.db import Tx

BLOCK = 1000
"""Entries whose hashes are compared with other places' at once."""
_LOCK = "SELECT pg_advisory_xact_lock(7305814205)"
_ROOT_AT = "SELECT root FROM core.audit_checkpoints WHERE size = $1"
_NEWEST = "SELECT coalesce(max(size), 0) FROM core.audit_checkpoints"
_CROSSED = "type = 'call.audited' AND verdict = 'delivered'"
_HASH_OF = f"SELECT signature_hash FROM core.crossings WHERE {_CROSSED} AND keyversion = $1"  # noqa: S608 - of constants
_ADD = """
INSERT INTO core.audit_checkpoints (size, root, statement, signature, key_id, statement_hash, witness, witness_signature, witness_key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""
_AFTER = """
SELECT size, root, statement, signature, key_id, statement_hash, witness, witness_signature, witness_key_id
  FROM core.audit_checkpoints WHERE size > $1 ORDER BY size LIMIT $2"""
_BLOCKS = f"""
SELECT keyversion / {BLOCK} AS block, count(signature_hash) AS entries, max(keyversion) AS newest,
       encode(sha256(convert_to(string_agg(signature_hash, '' ORDER BY keyversion), 'UTF8')), 'hex') AS digest
  FROM core.crossings WHERE {_CROSSED} GROUP BY 1 ORDER BY 1"""  # noqa: S608 - of constants
_HASHES = f"SELECT keyversion, signature_hash FROM core.crossings WHERE {_CROSSED} AND keyversion BETWEEN $1 AND $2 ORDER BY 1"  # noqa: S608 - of constants


async def lock_checkpoints(tx: Tx) -> None:
    """Nobody else adds one until `tx` ends."""
    await tx.raw.execute(_LOCK)


async def root_at(tx: Tx, size: int) -> str | None:
    """What a checkpoint over so many entries said."""
    found: str | None = await tx.raw.fetchval(_ROOT_AT, size)
    return found


async def newest_size(tx: Tx) -> int:
    return int(await tx.raw.fetchval(_NEWEST))


async def crossed_hash(tx: Tx, seq: int) -> str | None:
    """The hash that entry `seq` had when it crossed; None when it has not crossed yet, or did not say."""
    found: str | None = await tx.raw.fetchval(_HASH_OF, seq)
    return found


async def add_checkpoint(tx: Tx, checkpoint: Checkpoint, signed: Signed, witness: Signed) -> None:
    row = (checkpoint.size, checkpoint.root, signed.payload, signed.signature, signed.key_id, signed.hash)
    await tx.raw.execute(_ADD, *row, witness.payload, witness.signature, witness.key_id)


async def checkpoints_after(tx: Tx, size: int, limit: int) -> Sequence[Record]:
    return await tx.raw.fetch(_AFTER, size, limit)


async def crossed_blocks(tx: Tx) -> Sequence[Record]:
    """block, entries, newest, digest: of the hashes of the entries that crossed, a thousand numbers each."""
    return await tx.raw.fetch(_BLOCKS)


async def crossed_hashes(tx: Tx, first: int, last: int) -> list[tuple[int, str | None]]:
    return [(row[0], row[1]) for row in await tx.raw.fetch(_HASHES, first, last)]
