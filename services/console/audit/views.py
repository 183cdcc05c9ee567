"""What the audit pages read."""
# statements are composed of names of ours; every value is a parameter
# ruff: noqa: S608

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

from asyncpg import Record
from sqlalchemy import func, select
from sqlalchemy.engine import RowMapping

from services.console.audit.domain import Search
from services.console.tables import rejected_rows
from shared.db import Tx
from shared.db.words import words_or_id

PAGE = 50
MOST_COUNTED = 10_000
"""More than these are not counted."""
SLACK = 1000
"""Places by which numbers and times may differ: two instances' clocks, and a commit that waits."""
DAY = timedelta(hours=24)
_SHOWN = (
    "entry_id, seq, at, call_id, asker, on_behalf_of, connector, operation, target, outcome, status, secret, detail,"
    " duration_ms, bytes_out, bytes_in, tokens_in, tokens_out, trace_id, hash"
)
_BAD = "outcome IN ('failed', 'refused', 'lost')"
_FIRST_SINCE = "(SELECT seq FROM app.calls WHERE at >= {0} ORDER BY at LIMIT 1)"
_LAST_UNTIL = "(SELECT seq FROM app.calls WHERE at < {0} ORDER BY at DESC LIMIT 1)"
_COUNTED = "count(*) FILTER (WHERE outcome <> 'begun') AS n, count(*) FILTER (WHERE outcome IN ('failed', 'refused', 'lost')) AS bad"
_HOURS = f"SELECT date_trunc('hour', at) AS hour, {_COUNTED} FROM app.calls WHERE at >= $1 GROUP BY 1 ORDER BY 1 DESC LIMIT 24"
_CONNECTORS = f"SELECT connector, {_COUNTED} FROM app.calls WHERE at >= $1 GROUP BY 1 ORDER BY 2 DESC LIMIT 12"
_CHOICES = """
WITH RECURSIVE found AS (
  (SELECT {0} AS value FROM app.calls ORDER BY {0} LIMIT 1)
  UNION ALL SELECT (SELECT {0} FROM app.calls WHERE {0} > found.value ORDER BY {0} LIMIT 1) FROM found WHERE found.value IS NOT NULL
) SELECT value FROM found WHERE value <> '' LIMIT 100"""


class _Wanted(NamedTuple):
    where: str
    values: list[Any]


def _wanted(by: Search) -> _Wanted:
    values: list[Any] = []

    def value(given: Any) -> str:
        values.append(given)
        return f"${len(values)}"

    parts = ["true"]
    exact = {"connector": by.connector, "asker": by.asker, "on_behalf_of": by.owner, "status": by.status}
    parts += [f"{name} = {value(given)}" for name, given in exact.items() if given]
    if by.target:
        parts.append(f"target ^@ {value(by.target)}")
    if by.result:
        parts.append(_BAD if by.result == "bad" else f"outcome = {value(by.result)}")
    if by.start:
        at = value(datetime.combine(by.start, time(), UTC))
        parts.append(f"at >= {at} AND seq >= {_FIRST_SINCE.format(at)} - {SLACK}")
    if by.before:
        at = value(datetime.combine(by.before, time(), UTC))
        parts.append(f"at < {at} AND seq <= {_LAST_UNTIL.format(at)} + {SLACK}")
    if by.q:
        parts.append(words_or_id(by.q, value(by.q)))
    return _Wanted(" AND ".join(f"({each})" for each in parts), values)


async def list_calls(tx: Tx, by: Search, *, limit: int = PAGE, below: int | None = None) -> Sequence[Record]:
    """Newest first. `below`: only entries with a smaller number."""
    where, values = _wanted(by)
    if below is not None:
        values.append(below)
        where += f" AND seq < ${len(values)}"
    places = f"LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}"
    sql = f"SELECT {_SHOWN} FROM app.calls WHERE {where} ORDER BY seq DESC, entry_id {places}"
    return await tx.raw.fetch(sql, *values, limit, (by.page - 1) * limit)


async def count_calls(tx: Tx, by: Search) -> int:
    """How many there are; MOST_COUNTED + 1 stands for more."""
    where, values = _wanted(by)
    sql = f"SELECT count(*) FROM (SELECT FROM app.calls WHERE {where} LIMIT {MOST_COUNTED + 1}) found"
    return int(await tx.raw.fetchval(sql, *values))


async def by_hour(tx: Tx, present: datetime) -> Sequence[Record]:
    """The last 24 hours in which there were calls: hour, n, bad. Newest first. What begun is not counted beside its end."""
    return await tx.raw.fetch(_HOURS, present - DAY)


async def by_connector(tx: Tx, present: datetime) -> Sequence[Record]:
    return await tx.raw.fetch(_CONNECTORS, present - DAY)


async def choices(tx: Tx) -> tuple[list[str], list[str]]:
    """Connectors and askers that occur, found by hopping through the index."""
    connectors = await tx.raw.fetch(_CHOICES.format("connector"))
    askers = await tx.raw.fetch(_CHOICES.format("asker"))
    return [row[0] for row in connectors], [row[0] for row in askers]


async def unseen_rejections(tx: Tx) -> Sequence[RowMapping]:
    found = select(rejected_rows).where(rejected_rows.c.seen_by.is_(None))
    return await tx.rows(found.order_by(rejected_rows.c.found_at.desc()).limit(20))


async def count_unseen_rejections(tx: Tx) -> int:
    return int(await tx.value(select(func.count()).select_from(rejected_rows).where(rejected_rows.c.seen_by.is_(None))))
