"""What the bridge reads for its own timers and for the operator."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from asyncpg import Record

from schemas.model import Kind
from shared.db import Tx

_DUE = """
SELECT item_id, scheduled_revision FROM app.items
WHERE scheduled_revision IS NOT NULL AND publish_at <= $1 ORDER BY publish_at LIMIT 100"""
_NEXT_DUE = """
SELECT least((SELECT min(publish_at) FROM app.items WHERE scheduled_revision IS NOT NULL AND publish_at > coalesce($1, '-infinity'::timestamptz)),
  (SELECT min(expire_at) FROM app.items WHERE expire_at IS NOT NULL))"""
_OVER = "SELECT item_id FROM app.items WHERE expire_at <= $1 ORDER BY expire_at LIMIT 100"
_ENTRIES = """
SELECT g.seq, g.kind, g.entry, g.signature, g.key_id, g.previous, g.hash, g.item_id, g.revision, g.at,
  g.statement, g.statement_signature, g.statement_key_id, r.content, coalesce(i.published_revision = r.revision, false) AS current
FROM core.gate_log g LEFT JOIN core.revisions r
  ON g.kind = 'publication' AND r.item_id = g.item_id AND r.revision = g.revision
LEFT JOIN app.items i ON i.item_id = r.item_id
WHERE g.seq > $1 ORDER BY g.seq LIMIT $2"""
_UNTOLD_KEYS = """
SELECT seq, kind, entry, signature, key_id, previous, item_id, revision, statement, statement_signature, statement_key_id
FROM core.gate_log g WHERE kind = 'key' AND NOT EXISTS (
  SELECT FROM core.crossings c WHERE c.receiver = $1 AND c.type = 'key.recorded' AND c.keyversion = g.seq) ORDER BY seq"""
_GATE_TIMES = "SELECT seq, kind, at FROM core.gate_log WHERE item_id = $1 ORDER BY seq"
_POLICIES = """
SELECT DISTINCT ON (sender, receiver, type) sender, receiver, type, policy, version, set_by, reason, at FROM core.policies
ORDER BY sender, receiver, type, version DESC"""
_KEYS = "SELECT action, subject_key_id, person_name, reason, at FROM core.decision_keys ORDER BY position"
_CROSSINGS = """
SELECT position, event_id, sender, receiver, type, key, keyversion, policy, verdict, reason, decided_by, at
FROM core.crossings WHERE ($1::text IS NULL OR (key = $1 AND type LIKE 'item.%')) ORDER BY position DESC LIMIT $2"""
_OPENINGS = """
SELECT statement_hash, person_id, person_name, via, reason, nonce FROM core.decisions WHERE statement_hash = ANY ($1)
UNION ALL SELECT statement_hash, person_id, person_name, via, reason, nonce FROM core.switch_settings WHERE statement_hash = ANY ($1)
UNION ALL SELECT statement_hash, person_id, person_name, via, reason, nonce FROM core.decision_keys WHERE statement_hash = ANY ($1)
UNION ALL SELECT statement_hash, person_id, person_name, via, reason, nonce FROM core.link_changes WHERE statement_hash = ANY ($1)"""
_TAKEN_BACK = """
SELECT position, item_id, statement, signature, key_id, statement_hash, at FROM core.decisions
WHERE position > $1 AND verdict IN ('withdraw', 'undo') ORDER BY position LIMIT $2"""
_PROPOSED = """
SELECT r.item_id, r.revision, r.submission_id, r.kind, r.lang, r.path, r.blocked,
  (SELECT count(*) FROM core.revisions b WHERE b.item_id = r.item_id AND b.blocked AND b.revision < r.revision) AS hidden
FROM core.revisions r WHERE r.item_id = $1 AND r.revision = ANY ($2) AND r.submitted_via = 'agent'"""
_BLOCKED = "SELECT count(*) FROM core.revisions WHERE item_id = $1 AND blocked AND revision < $2"
_COUNTS = "SELECT state, count(*) AS items FROM app.items GROUP BY state"


class Proposed(NamedTuple):
    """A revision that came from the agent. `hidden`: revisions before it that the lock blocked, which nobody but reviewers is told."""

    item_id: UUID
    revision: int
    submission_id: UUID
    kind: Kind
    lang: str
    path: str
    blocked: bool
    hidden: int


async def proposed(tx: Tx, item_id: UUID, revisions: Sequence[int]) -> dict[int, Proposed]:
    """Those of these revisions that came from the agent, by number."""
    return {row["revision"]: Proposed(*row) for row in await tx.raw.fetch(_PROPOSED, item_id, revisions)}


async def count_blocked(tx: Tx, item_id: UUID, before: int) -> int:
    """Revisions before that number that the lock blocked."""
    return int(await tx.raw.fetchval(_BLOCKED, item_id, before))


async def due(tx: Tx, at: datetime) -> Sequence[tuple[UUID, int]]:
    """(item, revision) whose time has come, oldest first, at most 100."""
    return [(row["item_id"], row["scheduled_revision"]) for row in await tx.raw.fetch(_DUE, at)]


async def over(tx: Tx, at: datetime) -> Sequence[UUID]:
    """Items whose published revision has had its time, oldest first, at most 100."""
    return [row["item_id"] for row in await tx.raw.fetch(_OVER, at)]


async def next_due(tx: Tx, after: datetime | None) -> datetime | None:
    """When the next revision is to be published, leaving out what waits since before `after`, or taken down."""
    found: datetime | None = await tx.raw.fetchval(_NEXT_DUE, after)
    return found


async def entries_after(tx: Tx, seq: int, limit: int) -> Sequence[Record]:
    """Gate entries with the bytes they commit to, in order."""
    return await tx.raw.fetch(_ENTRIES, seq, limit)


async def untold_keys(tx: Tx, receiver: str) -> Sequence[Record]:
    """Key entries that `receiver` was never told of, in order."""
    return await tx.raw.fetch(_UNTOLD_KEYS, receiver)


async def gate_times(tx: Tx, item_id: UUID) -> list[dict[str, Any]]:
    """seq, kind and time of an item's gate entries."""
    return [_plain(row) for row in await tx.raw.fetch(_GATE_TIMES, item_id)]


async def policies(tx: Tx) -> list[dict[str, Any]]:
    """The policies in force with who set them, when and why."""
    return [_plain(row) for row in await tx.raw.fetch(_POLICIES)]


async def keys(tx: Tx) -> list[dict[str, Any]]:
    """The decision keys that were added or revoked since the installation."""
    return [_plain(row) for row in await tx.raw.fetch(_KEYS)]


async def crossings(tx: Tx, item_id: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest crossings, of one item or of all."""
    return [_plain(row) for row in await tx.raw.fetch(_CROSSINGS, item_id, limit)]


async def openings(tx: Tx, hashes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who stands behind these statements, by their hashes."""
    rows = [dict(row) for row in await tx.raw.fetch(_OPENINGS, list(hashes))]
    return {row.pop("statement_hash"): row for row in rows}


async def taken_back_after(tx: Tx, position: int, limit: int) -> Sequence[Record]:
    """Withdrawals and undone verdicts behind a place in the record of decisions, in order."""
    return await tx.raw.fetch(_TAKEN_BACK, position, limit)


async def items_by_state(tx: Tx) -> dict[str, int]:
    return {row["state"]: row["items"] for row in await tx.raw.fetch(_COUNTS)}


def _plain(row: Record) -> dict[str, Any]:
    return {name: _json(value) for name, value in row.items()}


def _json(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case UUID():
            return str(value)
    return value
