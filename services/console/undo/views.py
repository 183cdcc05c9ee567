"""What a person decided in the last ten minutes and can take back."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from services.console.undo.domain import WINDOW, Group
from shared.db import Tx

_GROUPS = """
SELECT d.batch, d.verdict, count(*) AS n, min(d.outcome_at) AS taken, min(i.title) AS title, min(d.item_id::text) AS item_id,
  min(d.publish_at) AS publish_at
FROM app.decisions d JOIN app.items i ON i.item_id = d.item_id
WHERE d.by_id = $1 AND d.at > $2 AND d.batch IS NOT NULL AND d.verdict IN ('approve', 'reject', 'request_changes') AND d.undone_at IS NULL
  AND (d.outcome = 'sent' OR (d.outcome = 'applied' AND d.outcome_at > $3 AND i.verdict_hash = d.statement_hash))
GROUP BY d.batch, d.verdict HAVING min(d.outcome_at) IS NOT NULL ORDER BY max(d.at) DESC LIMIT 20"""
_BATCH = """
SELECT statement_hash FROM app.decisions WHERE batch = $1 AND verdict <> 'undo' ORDER BY item_id"""
_NEWEST = """
SELECT coalesce(undoes, statement_hash) FROM app.decisions WHERE item_id = $1 AND outcome <> 'refused' ORDER BY at DESC LIMIT 1"""
_LAST_BATCH = "SELECT batch FROM app.decisions WHERE by_id = $1 AND verdict <> 'undo' AND batch IS NOT NULL ORDER BY at DESC LIMIT 1"
_SINCE = """
SELECT state, by_name, by_via, reason, revision, at FROM app.item_history
WHERE item_id = $1 AND version = (SELECT max(version) FROM app.item_history WHERE item_id = $1)"""
OLDEST_SENT = WINDOW * 6
"""A decision may have waited for the lock before it took effect; older ones are not looked at."""


async def undoable(tx: Tx, person_id: str, present: datetime) -> list[Group]:
    """The newest first. Only what is still as the decision left it; what the lock has not answered yet is counted, too."""
    rows = await tx.raw.fetch(_GROUPS, person_id, present - OLDEST_SENT, present - WINDOW)
    return [_group(row) for row in rows]


def _group(row: Record) -> Group:
    only = row["n"] == 1
    return Group(
        batch=row["batch"],
        verdict=row["verdict"],
        count=row["n"],
        until=row["taken"] + WINDOW,
        title=row["title"] if only else None,
        item_id=UUID(row["item_id"]) if only else None,
        publish_at=row["publish_at"],
    )


async def hashes_of(tx: Tx, batch: UUID) -> list[str]:
    """The decisions that were made with one word, in the order in which their items are locked."""
    return [row["statement_hash"] for row in await tx.raw.fetch(_BATCH, batch)]


async def titles(tx: Tx, ids: list[UUID]) -> dict[UUID, str]:
    """By item."""
    rows = await tx.raw.fetch("SELECT item_id, title FROM app.items WHERE item_id = ANY ($1::uuid[])", ids)
    return {row["item_id"]: row["title"] for row in rows}


async def last_batch(tx: Tx, person_id: str) -> UUID | None:
    found: UUID | None = await tx.raw.fetchval(_LAST_BATCH, person_id)
    return found


async def newest_decision(tx: Tx, item_id: UUID) -> str | None:
    """The hash of the newest word on an item that the lock did not refuse; of an undone one, so that undoing it twice says so."""
    found: str | None = await tx.raw.fetchval(_NEWEST, item_id)
    return found


async def what_happened(tx: Tx, item_id: UUID) -> Record | None:
    """The newest entry of an item's history."""
    return await tx.raw.fetchrow(_SINCE, item_id)
