"""The figures, counted by the database."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from asyncpg import Record

from services.console.queue.domain import UNANSWERED
from services.console.statistics.domain import Day, Statistics, Total
from shared.db import Tx

_VERDICTS = """
  count(*) FILTER (WHERE d.verdict = 'approve') AS approve, count(*) FILTER (WHERE d.verdict = 'reject') AS reject,
  count(*) FILTER (WHERE d.verdict = 'request_changes') AS request_changes,
  count(*) FILTER (WHERE d.undone_at IS NOT NULL) AS undone"""
_MINE = """d.at >= $1 AND d.outcome = 'applied' AND d.verdict IN ('approve', 'reject', 'request_changes')
  AND ($2::text IS NULL OR d.by_id = $2)"""
_DAYS = f"""
SELECT (d.at AT TIME ZONE 'UTC')::date AS day, {_VERDICTS} FROM app.decisions d WHERE {_MINE} GROUP BY 1"""  # noqa: S608 - built from the constants above
_WAITED = "extract(epoch FROM d.at - r.queued_at)::float8) FILTER (WHERE d.at >= r.queued_at)"
_PEOPLE = f"""
SELECT d.by_id, max(d.by_name) AS name, {_VERDICTS},
  percentile_cont(0.5) WITHIN GROUP (ORDER BY {_WAITED} AS median,
  percentile_cont(0.9) WITHIN GROUP (ORDER BY {_WAITED} AS p90
FROM app.decisions d LEFT JOIN app.revisions r ON r.item_id = d.item_id AND r.revision = d.revision
WHERE {_MINE} GROUP BY GROUPING SETS ((), (d.by_id)) ORDER BY count(*) DESC"""  # noqa: S608 - built from the constants above
_WAITING = """
SELECT count(*) AS n, min(queued_at) AS oldest FROM app.items
WHERE state = 'submitted' AND (deciding IS NULL OR decided_at <= $1)"""


async def statistics(tx: Tx, person_id: str | None, days: int, present: datetime) -> Statistics:
    """Of one person, or of everybody (None), in the last `days` days with today, UTC."""
    first = present.astimezone(UTC).date() - timedelta(days=days - 1)
    since = datetime.combine(first, datetime.min.time(), UTC)
    found = {row["day"]: row for row in await tx.raw.fetch(_DAYS, since, person_id)}
    rows = await tx.raw.fetch(_PEOPLE, since, person_id)
    waiting = await tx.raw.fetchrow(_WAITING, present - UNANSWERED)
    assert waiting is not None
    return Statistics(
        since=since,
        days=[_day(first + timedelta(days=at), found) for at in range(days)],
        total=next((_total(row) for row in rows if row["by_id"] is None), _total(None)),
        people=[_total(row) for row in rows if row["by_id"] is not None],
        waiting=waiting["n"],
        oldest=waiting["oldest"],
    )


def _day(day: date, found: dict[date, Record]) -> Day:
    row: Any = found.get(day) or {}
    return Day(day, *(row.get(name, 0) for name in ("approve", "reject", "request_changes", "undone")))


def _total(row: Record | None) -> Total:
    counts = [row[name] if row else 0 for name in ("approve", "reject", "request_changes", "undone")]
    times = (row["median"], row["p90"]) if row else (None, None)
    name = row["name"] if row and row["by_id"] else "all together"
    return Total(row["by_id"] if row else None, name, *counts, *times)
