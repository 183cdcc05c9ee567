"""What the analytics pages and the operator read."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from sqlalchemy import String, cast, func, select, text
from sqlalchemy.engine import RowMapping

from services.console.queue.tables import items
from services.console.tables import feedback, reactions, signal_counts, votes
from shared.db import Tx

_DAYS = """
WITH v AS (SELECT day, sum(n)::bigint AS n FROM app.signal_counts
            WHERE kind = 'view' AND (CAST(:key AS text) IS NULL OR item_key = :key) GROUP BY day),
 o AS (SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS n FROM app.votes
        WHERE value <> 0 AND (CAST(:key AS text) IS NULL OR item_key = :key) GROUP BY 1),
 r AS (SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS n FROM app.reactions
        WHERE CAST(:key AS text) IS NULL OR item_key = :key GROUP BY 1),
 f AS (SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS n FROM app.feedback
        WHERE CAST(:key AS text) IS NULL OR item_key = :key GROUP BY 1)
SELECT day, coalesce(v.n, 0) AS views, coalesce(o.n, 0) AS votes, coalesce(r.n, 0) AS reactions,
       coalesce(f.n, 0) AS feedback
  FROM v FULL JOIN o USING (day) FULL JOIN r USING (day) FULL JOIN f USING (day) ORDER BY day DESC LIMIT :days
"""


async def totals(tx: Tx) -> dict[str, int]:
    """{"view", "vote", "reaction", "feedback"}; a vote counts once per visitor and item, as it stands now."""
    counted = (
        select(func.coalesce(func.sum(signal_counts.c.n), 0)).where(signal_counts.c.kind == "view"),
        select(func.count()).select_from(votes).where(votes.c.value != 0),
        select(func.count()).select_from(reactions),
        select(func.count()).select_from(feedback),
    )
    row = await tx.row(select(*(each.scalar_subquery().label(f"n{at}") for at, each in enumerate(counted))))
    kinds = ("view", "vote", "reaction", "feedback")
    return {kind: int(row[f"n{at}"]) if row else 0 for at, kind in enumerate(kinds)}


async def by_day(tx: Tx, key: str | None = None, days: int = 60) -> Sequence[RowMapping]:
    """Newest first: day, views, votes, reactions, feedback; only days on which something happened."""
    return await tx.rows(text(_DAYS), {"key": key, "days": days})


async def by_item(tx: Tx, limit: int = 100) -> Sequence[RowMapping]:
    """Most viewed first: item_key, views, last day, and the item's title and language when it is one."""
    counted = (
        select(
            signal_counts.c.item_key,
            func.sum(signal_counts.c.n).label("views"),
            func.max(signal_counts.c.day).label("last_day"),
        )
        .where(signal_counts.c.kind == "view")
        .group_by(signal_counts.c.item_key)
        .order_by(func.sum(signal_counts.c.n).desc(), signal_counts.c.item_key)
        .limit(limit)
        .subquery()
    )
    beside = cast(items.c.item_id, String) == counted.c.item_key
    found = select(counted, items.c.title, items.c.lang, items.c.kind).outerjoin(items, beside)
    return await tx.rows(found.order_by(counted.c.views.desc(), counted.c.item_key))


async def count_keys(tx: Tx) -> int:
    return int(await tx.value(select(func.count(func.distinct(signal_counts.c.item_key)))))


async def votes_of(tx: Tx, key: str) -> dict[str, int]:
    """{"up", "down"}."""
    up, down = func.count().filter(votes.c.value == 1), func.count().filter(votes.c.value == -1)
    row = await tx.row(select(up.label("up"), down.label("down")).where(votes.c.item_key == key))
    return {"up": row["up"], "down": row["down"]} if row else {"up": 0, "down": 0}


async def reactions_of(tx: Tx, key: str) -> dict[str, int]:
    found = select(reactions.c.reaction, func.count().label("n")).where(reactions.c.item_key == key)
    return {row["reaction"]: row["n"] for row in await tx.rows(found.group_by(reactions.c.reaction))}


async def messages(tx: Tx, key: str | None = None, limit: int = 50) -> Sequence[RowMapping]:
    """Feedback, newest first, with the item's title when it is one."""
    beside = cast(items.c.item_id, String) == feedback.c.item_key
    found: Any = select(feedback, items.c.title, items.c.lang).outerjoin(items, beside)
    if key is not None:
        found = found.where(feedback.c.item_key == key)
    return await tx.rows(found.order_by(feedback.c.at.desc()).limit(limit))


def filled(rows: Sequence[RowMapping], name: str) -> list[tuple[date, int]]:
    """Day and figure, oldest first, for a chart."""
    return [(row["day"], int(row[name])) for row in reversed(rows)]


async def about(tx: Tx, key: str) -> RowMapping | None:
    """The item that a key names, if it is one."""
    return await tx.row(select(items).where(cast(items.c.item_id, String) == key))
