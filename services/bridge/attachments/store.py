"""SQL of attachments at the lock."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from asyncpg import Record

from shared.db import Tx

_KEEP = """
INSERT INTO app.arrived_attachments (submission_id, hash, sender, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"""
_HOLD = """
INSERT INTO app.held_submissions (submission_id, item_id, sender, hashes, subject, headers, body)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7) ON CONFLICT DO NOTHING"""
_COMPLETE = """
SELECT h.submission_id, h.subject, h.headers::text AS headers, h.body FROM app.held_submissions h
WHERE NOT EXISTS (SELECT FROM unnest(h.hashes) AS n(hash) WHERE NOT EXISTS (
  SELECT FROM app.arrived_attachments a WHERE a.submission_id = h.submission_id AND a.hash = n.hash AND a.sender = h.sender))
ORDER BY h.position LIMIT 1"""
_BYTES = """
SELECT hash, data FROM app.arrived_attachments WHERE submission_id = $1"""
_RELEASE = "DELETE FROM app.held_submissions WHERE submission_id = $1 RETURNING position"
_OLDER = """
DELETE FROM app.held_submissions WHERE item_id = $1 AND submission_id <> $2
  AND position < coalesce((SELECT position FROM app.held_submissions WHERE submission_id = $2), 9223372036854775807)
RETURNING submission_id, item_id, sender, subject, headers::text AS headers, body, hashes"""
_LATE = """
DELETE FROM app.held_submissions WHERE at < clock_timestamp() - make_interval(secs => $1)
RETURNING submission_id, item_id, sender, subject, headers::text AS headers, body, hashes"""
_CLEAR = "DELETE FROM app.arrived_attachments WHERE submission_id = $1"
_PRUNE = "DELETE FROM app.arrived_attachments WHERE at < clock_timestamp() - make_interval(secs => $1)"
_NEXT_LATE = """
SELECT extract(epoch FROM least((SELECT min(at) FROM app.held_submissions), (SELECT min(at) FROM app.arrived_attachments))
  - clock_timestamp())::float8"""
_ADD = """
INSERT INTO core.attachments (hash, data)
SELECT hash, data FROM app.arrived_attachments WHERE submission_id = $1 AND hash = ANY ($2) ON CONFLICT DO NOTHING"""
_READ = "SELECT hash, data FROM core.attachments WHERE hash = ANY ($1::text[])"
_WAITING = "SELECT coalesce(sum(length(data)), 0) FROM app.arrived_attachments WHERE sender = $1"


async def keep(tx: Tx, submission_id: UUID, hash_: str, sender: str, data: bytes) -> None:
    await tx.raw.execute(_KEEP, submission_id, hash_, sender, data)


async def waiting_bytes(tx: Tx, sender: str) -> int:
    """Of what came from this surface and belongs to no revision yet."""
    return int(await tx.raw.fetchval(_WAITING, sender))


async def hold(tx: Tx, submission_id: UUID, item_id: UUID, hashes: Sequence[str], event: Any) -> None:
    """Put a submission aside until its bytes are there. `event`: the Received."""
    raw = (event.subject, event.headers_json, event.raw)
    await tx.raw.execute(_HOLD, submission_id, item_id, event.sender, list(hashes), *raw)


async def next_complete(tx: Tx) -> Record | None:
    """submission_id, subject, headers, body of the oldest submission that has all its bytes."""
    return await tx.raw.fetchrow(_COMPLETE)


async def bytes_of(tx: Tx, submission_id: UUID) -> dict[str, bytes]:
    """By hash."""
    return {row["hash"]: row["data"] for row in await tx.raw.fetch(_BYTES, submission_id)}


async def release(tx: Tx, submission_id: UUID) -> bool:
    """Whether it was still held; another instance may have been faster."""
    return await tx.raw.fetchval(_RELEASE, submission_id) is not None


async def drop_older(tx: Tx, item_id: UUID, submission_id: UUID) -> Sequence[Record]:
    """Held submissions of the item that came before this one."""
    return await tx.raw.fetch(_OLDER, item_id, submission_id)


async def drop_late(tx: Tx, seconds: float) -> Sequence[Record]:
    return await tx.raw.fetch(_LATE, seconds)


async def clear(tx: Tx, submission_id: UUID) -> None:
    await tx.raw.execute(_CLEAR, submission_id)


async def prune(tx: Tx, seconds: float) -> None:
    """Forget bytes that no submission came for."""
    await tx.raw.execute(_PRUNE, seconds)


async def oldest(tx: Tx) -> float | None:
    """Seconds since the oldest of what waits came, as a negative number; None when nothing waits."""
    found: float | None = await tx.raw.fetchval(_NEXT_LATE)
    return found


async def add(tx: Tx, submission_id: UUID, hashes: Sequence[str]) -> None:
    """Keep a revision's bytes for good."""
    await tx.raw.execute(_ADD, submission_id, list(hashes))


async def read(tx: Tx, hashes: Sequence[str]) -> dict[str, bytes]:
    """By hash; what is not there is left out."""
    return {row["hash"]: row["data"] for row in await tx.raw.fetch(_READ, list(hashes))}
