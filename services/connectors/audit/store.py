"""The call audit's statements."""
# composed of names of ours
# ruff: noqa: S608

from collections.abc import Sequence

from asyncpg import Record

from services.connectors.audit.domain import Entry, Head
from services.connectors.audit.tables import JSON, MADE
from shared.db import Tx

_LOCK = "SELECT pg_advisory_xact_lock(7305814202)"
_HEAD = "SELECT seq, hash FROM core.call_audit ORDER BY seq DESC LIMIT 1"
_ADD = """
INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::text[], $5::text[])"""
_AGREES = f"ROW({', '.join(MADE)}) IS NOT DISTINCT FROM (SELECT ROW({', '.join(MADE.values())}) FROM (SELECT {JSON} AS e) made)"
_AFTER = f"SELECT seq, entry_id, entry, hash, previous, {_AGREES} AS agrees FROM core.call_audit WHERE seq > $1 ORDER BY seq LIMIT $2"


async def lock_audit(tx: Tx) -> Head:
    """The audit's head, which is the caller's until its transaction ends: appends never fork."""
    await tx.raw.execute(_LOCK)
    return await read_head(tx)


async def read_head(tx: Tx) -> Head:
    row = await tx.raw.fetchrow(_HEAD)
    return Head() if row is None else Head(row["seq"], row["hash"])


async def add_entries(tx: Tx, entries: Sequence[Entry]) -> None:
    rows = [(each.seq, each.entry_id, each.bytes_, each.hash, each.previous) for each in entries]
    await tx.raw.execute(_ADD, *(list(column) for column in zip(*rows, strict=True)))


async def entries_after(tx: Tx, seq: int, limit: int) -> Sequence[Record]:
    """With `agrees`: whether the columns that were made from the bytes still say what the bytes say."""
    return await tx.raw.fetch(_AFTER, seq, limit)
