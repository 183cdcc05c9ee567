"""The connectors' statements."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from services.connectors.audit.domain import Entry, Head
from shared.db import Tx

_LOCK = "SELECT pg_advisory_xact_lock(7305814202)"
_HEAD = "SELECT seq, hash FROM core.call_audit ORDER BY seq DESC LIMIT 1"
_ADD = "INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous) VALUES ($1, $2, $3, $4, $5)"
_AFTER = "SELECT seq, entry_id, entry, hash, previous FROM core.call_audit WHERE seq > $1 ORDER BY seq LIMIT $2"


async def lock_audit(tx: Tx) -> Head:
    """The audit's head, which is the caller's until its transaction ends: appends never fork."""
    await tx.raw.execute(_LOCK)
    row = await tx.raw.fetchrow(_HEAD)
    return Head() if row is None else Head(row["seq"], row["hash"])


async def add_entry(tx: Tx, entry_id: UUID, entry: Entry) -> None:
    await tx.raw.execute(_ADD, entry.seq, entry_id, entry.bytes_, entry.hash, entry.previous)


async def entries_after(tx: Tx, seq: int, limit: int) -> Sequence[Record]:
    return await tx.raw.fetch(_AFTER, seq, limit)
