"""The call audit's statements."""
# composed of names of ours
# ruff: noqa: S608

from collections.abc import Sequence

from asyncpg import Record

from schemas.outward import Checkpoint
from schemas.statements import Signed
from services.connectors.audit.domain import Entry, Head, Row
from services.connectors.audit.tables import MADE
from shared.db import Tx

_LOCK = "SELECT last_seq, last_hash FROM core.hold_call_audit()"
_HEAD = "SELECT seq, hash FROM core.call_audit ORDER BY seq DESC LIMIT 1"
_ADD = """
INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::text[], $5::text[])"""
_COLUMNS = (
    "concat(seq, chr(30), hash, chr(30), previous, chr(30), entry_id, chr(30), {}, chr(30), num_nulls({}))".format(
        ", chr(30), ".join(
            "to_char(noted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')" if name == "noted_at" else name
            for name in MADE
        ),
        ", ".join(MADE),
    )
)
"""As audit.domain.columns_of spells it. One text is fetched faster than fifteen columns."""
_AFTER = f"SELECT seq, entry, {_COLUMNS} FROM core.call_audit WHERE seq > $1 ORDER BY seq LIMIT $2"
_ONE_SIGNS = "SELECT pg_try_advisory_xact_lock(7305814204)"
_CHECKPOINT = (
    "SELECT size, root, statement, signature, key_id, statement_hash FROM core.checkpoints ORDER BY size DESC LIMIT 1"
)
_ADD_CHECKPOINT = "INSERT INTO core.checkpoints (size, root, statement, signature, key_id, statement_hash) VALUES ($1, $2, $3, $4, $5, $6)"
_HAS_CHECKPOINT = "SELECT EXISTS (SELECT FROM core.checkpoints WHERE statement_hash = $1)"
_ADD_WITNESS = """
INSERT INTO core.witnesses (checkpoint_hash, statement, signature, key_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"""
_HASH_AT = "SELECT hash FROM core.call_audit WHERE seq = $1"


async def lock_audit(tx: Tx) -> Head:
    """The audit's head, which is the caller's until its transaction ends: appends never fork."""
    row = await tx.raw.fetchrow(_LOCK)
    return Head() if row is None else Head(row["last_seq"], row["last_hash"])


async def read_head(tx: Tx) -> Head:
    row = await tx.raw.fetchrow(_HEAD)
    return Head() if row is None else Head(row["seq"], row["hash"])


async def add_entries(tx: Tx, entries: Sequence[Entry]) -> None:
    rows = [(each.seq, each.entry_id, each.bytes_, each.hash, each.previous) for each in entries]
    await tx.raw.execute(_ADD, *(list(column) for column in zip(*rows, strict=True)))


async def entries_after(tx: Tx, seq: int, limit: int) -> list[Row]:
    return [Row(*row) for row in await tx.raw.fetch(_AFTER, seq, limit)]


async def may_sign(tx: Tx) -> bool:
    """Whether this instance is the one that signs a checkpoint now; until `tx` ends."""
    return bool(await tx.raw.fetchval(_ONE_SIGNS))


async def newest_checkpoint(tx: Tx) -> Record | None:
    return await tx.raw.fetchrow(_CHECKPOINT)


async def hash_at(tx: Tx, seq: int) -> str | None:
    found: str | None = await tx.raw.fetchval(_HASH_AT, seq)
    return found


async def add_checkpoint(tx: Tx, checkpoint: Checkpoint, signed: Signed) -> None:
    row = (checkpoint.size, checkpoint.root, signed.payload, signed.signature, signed.key_id, signed.hash)
    await tx.raw.execute(_ADD_CHECKPOINT, *row)


async def has_checkpoint(tx: Tx, statement_hash: str) -> bool:
    return bool(await tx.raw.fetchval(_HAS_CHECKPOINT, statement_hash))


async def add_witness(tx: Tx, checkpoint_hash: str, witness: Signed) -> None:
    await tx.raw.execute(_ADD_WITNESS, checkpoint_hash, witness.payload, witness.signature, witness.key_id)
