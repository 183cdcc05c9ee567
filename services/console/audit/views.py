"""What the audit pages read."""

from collections.abc import Sequence
from datetime import UTC, datetime, time
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.engine import RowMapping

from services.console.audit.domain import Search
from services.console.audit.tables import calls
from services.console.tables import rejected_rows
from shared.db import Tx

PAGE = 50
_SEARCHED = ("asker", "on_behalf_of", "connector", "operation", "target", "status", "trace_id")


def _wanted(by: Search) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [true()]
    if by.q:  # strpos, not LIKE: a percent sign is a percent sign
        parts.append(or_(*(func.strpos(calls.c[name], by.q) > 0 for name in _SEARCHED)))
    if by.connector:
        parts.append(calls.c.connector == by.connector)
    if by.asker:
        parts.append(calls.c.asker == by.asker)
    if by.result == "bad":
        parts.append(calls.c.outcome != "ok")
    if by.start:
        parts.append(calls.c.at >= datetime.combine(by.start, time(), UTC))
    if by.before:
        parts.append(calls.c.at < datetime.combine(by.before, time(), UTC))
    return and_(*parts)


async def list_calls(tx: Tx, by: Search, *, limit: int | None = PAGE) -> Sequence[RowMapping]:
    """Newest first."""
    found = select(calls).where(_wanted(by)).order_by(calls.c.seq.desc(), calls.c.entry_id)
    return await tx.rows(found if limit is None else found.limit(limit).offset((by.page - 1) * limit))


async def count_calls(tx: Tx, by: Search) -> int:
    return int(await tx.value(select(func.count()).select_from(calls).where(_wanted(by))))


async def by_hour(tx: Tx) -> Sequence[RowMapping]:
    """The last 24 hours in which there were calls: hour, n, bad. Newest first."""
    hour = func.date_trunc("hour", calls.c.at).label("hour")
    bad = func.count().filter(calls.c.outcome != "ok").label("bad")
    found: Any = select(hour, func.count().label("n"), bad).group_by(hour)
    return await tx.rows(found.order_by(hour.desc()).limit(24))


async def by_connector(tx: Tx) -> Sequence[RowMapping]:
    bad = func.count().filter(calls.c.outcome != "ok").label("bad")
    found: Any = select(calls.c.connector, func.count().label("n"), bad).group_by(calls.c.connector)
    return await tx.rows(found.order_by(func.count().desc()))


async def choices(tx: Tx) -> tuple[list[str], list[str]]:
    """Connectors and askers that occur."""
    connectors = await tx.rows(select(calls.c.connector).distinct().order_by(calls.c.connector))
    askers = await tx.rows(select(calls.c.asker).distinct().order_by(calls.c.asker))
    return [row["connector"] for row in connectors], [row["asker"] for row in askers]


async def unseen_rejections(tx: Tx) -> Sequence[RowMapping]:
    found = select(rejected_rows).where(rejected_rows.c.seen_by.is_(None))
    return await tx.rows(found.order_by(rejected_rows.c.found_at.desc()).limit(20))


async def count_unseen_rejections(tx: Tx) -> int:
    return int(await tx.value(select(func.count()).select_from(rejected_rows).where(rejected_rows.c.seen_by.is_(None))))
