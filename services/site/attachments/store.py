"""SQL of attachments in site_db."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from schemas.statements import Decision
from shared.db import Tx

_LOCK = "SELECT pg_advisory_xact_lock(7305814261)"
_PUT = """
INSERT INTO app.attachments AS a (hash, data) VALUES ($1, $2) ON CONFLICT (hash) DO UPDATE
  SET data = excluded.data, received_at = clock_timestamp() WHERE encode(sha256(a.data), 'hex') <> a.hash
RETURNING xmin::text"""
_READ = "SELECT data FROM app.attachments WHERE hash = $1"
_VERSIONS = "SELECT hash, xmin::text AS xmin FROM app.attachments"
_WRONG = "SELECT hash FROM app.attachments WHERE hash = ANY ($1::text[]) AND hash <> encode(sha256(data), 'hex')"
_FREED = """
DELETE FROM app.attachment_uses WHERE item_id = $1 AND hash <> ALL ($2::text[]) RETURNING hash"""
_USE = "INSERT INTO app.attachment_uses (item_id, hash) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
_DROP = """
DELETE FROM app.attachments a WHERE a.hash = ANY ($1::text[])
  AND NOT EXISTS (SELECT FROM app.attachment_uses u WHERE u.hash = a.hash)"""
_PRUNE = """
DELETE FROM app.attachments a WHERE a.received_at < clock_timestamp() - make_interval(secs => $1)
  AND NOT EXISTS (SELECT FROM app.attachment_uses u WHERE u.hash = a.hash)"""
_LACKS = """
SELECT EXISTS (SELECT FROM unnest($1::text[]) AS n(hash) WHERE NOT EXISTS (SELECT FROM app.attachments a WHERE a.hash = n.hash))"""
_AWAIT = """
INSERT INTO app.unreported_entries (item_id, seq, revision, content_hash) VALUES ($1, $2, $3, $4)
ON CONFLICT (item_id) DO UPDATE SET (seq, revision, content_hash) = (excluded.seq, excluded.revision, excluded.content_hash)"""
_FORGET = "DELETE FROM app.unreported_entries WHERE item_id = $1"
_COMPLETE = """
DELETE FROM app.unreported_entries e WHERE EXISTS (SELECT FROM app.attachment_uses u WHERE u.item_id = e.item_id AND u.hash = $1)
  AND NOT EXISTS (SELECT FROM app.attachment_uses u WHERE u.item_id = e.item_id
    AND NOT EXISTS (SELECT FROM app.attachments a WHERE a.hash = u.hash))
RETURNING item_id, seq, revision, content_hash"""


async def lock(tx: Tx) -> None:
    """Whoever adds an entry and whoever adds an attachment see what the other did."""
    await tx.raw.execute(_LOCK)


async def put(tx: Tx, hash_: str, data: bytes) -> str | None:
    """The row's new version; None when these bytes were there."""
    found: str | None = await tx.raw.fetchval(_PUT, hash_, data)
    return found


async def read(tx: Tx, hash_: str) -> bytes | None:
    """The bytes as they lie there: whoever shows them looks at their hash first."""
    found: bytes | None = await tx.raw.fetchval(_READ, hash_)
    return found


async def versions(tx: Tx) -> dict[str, str]:
    """The row version of every attachment, by hash."""
    return {row["hash"]: row["xmin"] for row in await tx.raw.fetch(_VERSIONS)}


async def wrong(tx: Tx, hashes: Sequence[str]) -> frozenset[str]:
    """Those whose bytes are others than their hash says."""
    return frozenset(row["hash"] for row in await tx.raw.fetch(_WRONG, list(hashes)))


async def use(tx: Tx, item_id: UUID, hashes: Sequence[str]) -> None:
    """What the item's newest entry names; what only an older one named goes at once."""
    freed = [row["hash"] for row in await tx.raw.fetch(_FREED, item_id, list(hashes))]
    if hashes:
        await tx.raw.execute(_USE, item_id, list(hashes))
    if freed:
        await tx.raw.execute(_DROP, freed)


async def lacks(tx: Tx, hashes: Sequence[str]) -> bool:
    return bool(await tx.raw.fetchval(_LACKS, list(hashes)))


async def report_later(tx: Tx, seq: int, decision: Decision) -> None:
    await tx.raw.execute(_AWAIT, decision.item_id, seq, decision.revision, decision.content_hash)


async def forget_report(tx: Tx, item_id: UUID) -> None:
    await tx.raw.execute(_FORGET, item_id)


async def completed_by(tx: Tx, hash_: str) -> Sequence[Record]:
    """item_id, seq, revision, content_hash of what was not reported, and has all its attachments now."""
    return await tx.raw.fetch(_COMPLETE, hash_)


async def prune(tx: Tx, seconds: float) -> None:
    """Remove what no item uses, and has not come just now."""
    await tx.raw.execute(_PRUNE, seconds)
