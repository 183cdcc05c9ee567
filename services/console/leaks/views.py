"""What the leak guard found, and how far it is."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from shared.db import Tx

RULE = "internal_value"
"""What the lock calls a value of an internal column."""
_FOUND = """SELECT r.item_id, r.revision, f->>'message' AS message, (f->>'line')::int AS line
FROM app.items i JOIN app.revisions r USING (item_id, revision), jsonb_array_elements(r.findings) f
WHERE r.item_id = ANY ($1::uuid[]) AND f->>'rule' = $2 ORDER BY r.item_id, 4 NULLS LAST"""
_STATE = """SELECT count(*) AS columns, count(*) FILTER (WHERE NOT complete) AS unfinished,
(SELECT count(*) FROM app.leak_todo) AS waiting, (SELECT at FROM app.leak_lists) AS told_at FROM app.leak_columns"""
_LATELY = """SELECT i.item_id, i.title, i.state, i.kind, i.lang, i.path, r.revision, r.queued_at AS at, f->>'message' AS message, (f->>'line')::int AS line
FROM (SELECT * FROM app.items WHERE checks > 0 ORDER BY queued_at DESC LIMIT 500) i JOIN app.revisions r USING (item_id, revision),
  jsonb_array_elements(r.findings) f WHERE f->>'rule' = $1 ORDER BY r.queued_at DESC, i.item_id, 10 LIMIT $2"""
_WATCHED = """SELECT app, table_name, array_agg(column_name ORDER BY number) AS columns, bool_and(complete) AS complete
FROM app.leak_columns GROUP BY app, table_name ORDER BY app, table_name"""
_MARKS = "SELECT count(*) FROM app.leak_marks"


async def found(tx: Tx, item_ids: Sequence[UUID]) -> Sequence[Record]:
    """item_id, revision, message, line of what was found in the newest revisions of items."""
    return await tx.raw.fetch(_FOUND, item_ids, RULE)


async def state(tx: Tx) -> Record:
    """columns, unfinished, waiting (notes on changes), told_at (when the lock was told the list)."""
    row = await tx.raw.fetchrow(_STATE)
    assert row is not None, "it counts"
    return row


async def count_marks(tx: Tx) -> int:
    return int(await tx.raw.fetchval(_MARKS))


async def lately(tx: Tx, limit: int) -> Sequence[Record]:
    """Internal values in the newest revisions of items, the newest first."""
    return await tx.raw.fetch(_LATELY, RULE, limit)


async def watched(tx: Tx) -> Sequence[Record]:
    """app, table_name, columns, complete: all of their rows were looked at."""
    return await tx.raw.fetch(_WATCHED)
