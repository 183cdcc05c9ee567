"""Share links in console_db."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert

from services.console.links.tables import share_links
from shared.db import Tx

MOST = 500
_LINK = """
SELECT l.*, coalesce((SELECT sum(n) FROM app.link_views v WHERE v.link_id = l.link_id), 0)::bigint AS views,
  EXISTS (SELECT FROM app.item_history h WHERE h.item_id = l.item_id AND h.state IN ('withdrawn', 'submitted') AND h.gate_seq > l.gate_seq) AS ended
FROM app.share_links l"""
_ITEM = """
SELECT i.item_id, i.title, i.kind, i.lang, i.path, i.published_revision, r.audience AS published_audience
FROM app.items i LEFT JOIN app.revisions r ON r.item_id = i.item_id AND r.revision = i.published_revision WHERE i.item_id = $1"""
_APPLIED = {
    "open": "UPDATE app.share_links SET open_outcome = 'applied', gate_seq = $2 WHERE link_id = $1 AND $3::text IS NOT NULL AND $4::timestamptz IS NOT NULL",
    "close": """UPDATE app.share_links SET close_outcome = 'applied', closed_by = coalesce(closed_by, $3), closed_at = coalesce(closed_at, $4)
      WHERE link_id = $1 AND $2::bigint IS NOT NULL""",
}
_REFUSED = """
UPDATE app.share_links SET refusal = $2, open_outcome = CASE WHEN open_hash = $1 THEN 'refused' ELSE open_outcome END,
  close_outcome = CASE WHEN close_hash = $1 THEN 'refused' ELSE close_outcome END
WHERE (open_hash = $1 AND open_outcome = 'sent') OR (close_hash = $1 AND close_outcome = 'sent')"""
_CLOSE = """UPDATE app.share_links SET close_hash = $2, close_outcome = 'sent', closed_by = $3, closed_at = $4, refusal = '' WHERE link_id = $1"""
_COUNT = """
INSERT INTO app.link_views AS old (link_id, day, n)
SELECT c.link_id, c.day, c.n FROM unnest($1::uuid[], $2::date[], $3::bigint[]) c (link_id, day, n)
WHERE EXISTS (SELECT FROM app.share_links l WHERE l.link_id = c.link_id)
ON CONFLICT (link_id, day) DO UPDATE SET n = old.n + excluded.n"""


async def item(tx: Tx, item_id: UUID) -> dict[str, Any] | None:
    """What is published of an item, and for whom."""
    row = await tx.raw.fetchrow(_ITEM, item_id)
    return None if row is None else dict(row)


async def add(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(share_links).values(row))


async def one(tx: Tx, link_id: UUID, *, lock: bool = False) -> dict[str, Any] | None:
    if lock:
        await tx.raw.fetchrow("SELECT FROM app.share_links WHERE link_id = $1 FOR UPDATE", link_id)
    row = await tx.raw.fetchrow(f"{_LINK} WHERE l.link_id = $1", link_id)
    return None if row is None else dict(row)


async def of_item(tx: Tx, item_id: UUID) -> Sequence[dict[str, Any]]:
    """The newest first."""
    found = await tx.raw.fetch(f"{_LINK} WHERE l.item_id = $1 ORDER BY l.opened_at DESC LIMIT {MOST}", item_id)
    return [dict(row) for row in found]


async def newest(tx: Tx) -> Sequence[dict[str, Any]]:
    """Links to any item, with `title` and `place` of the item, the newest first."""
    found = await tx.raw.fetch(
        f"SELECT f.*, i.title, i.kind || '/' || i.lang || '/' || i.path AS place FROM ({_LINK}) f"  # noqa: S608 - our own words
        f" LEFT JOIN app.items i USING (item_id) ORDER BY f.opened_at DESC LIMIT {MOST}"
    )
    return [dict(row) for row in found]


async def close(tx: Tx, link_id: UUID, statement_hash: str, by: str, at: datetime) -> None:
    await tx.raw.execute(_CLOSE, link_id, statement_hash, by, at)


async def apply(tx: Tx, link_id: UUID, action: str, gate_seq: int, by: str, at: datetime) -> None:
    """The lock has recorded a change."""
    await tx.raw.execute(_APPLIED[action], link_id, gate_seq, by, at)


async def refuse(tx: Tx, statement_hash: str, reason: str) -> bool:
    """False when no change with that statement waited for an answer."""
    return bool((await tx.raw.execute(_REFUSED, statement_hash, reason)).endswith(" 1"))


async def count_views(tx: Tx, views: Mapping[tuple[UUID, date], int]) -> None:
    """Add views by link and day; of links that the console does not know, none is kept."""
    keys = sorted(views, key=str)
    await tx.raw.execute(_COUNT, [key[0] for key in keys], [key[1] for key in keys], [views[key] for key in keys])
