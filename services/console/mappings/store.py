"""Mappings in console_db, and the rows that they pick: only the columns that they name are ever read."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record
from sqlalchemy import RowMapping, select

from services.console.mappings.domain import MOST_ROWS, Report
from services.console.records.domain import Filter, Shape
from services.console.records.places import sql_of
from services.console.records.views import clause
from shared.db import Tx

_NAMES = "mapping_id, name, app, table_name, columns::text AS columns, filters::text AS filters, sort, down, kind, lang, path, audience, template"
_FOUND = f"SELECT {_NAMES}, by_name, at, (SELECT max(u.at) FROM app.mapping_uses u WHERE u.mapping_id = m.mapping_id) AS used_at FROM app.mappings m"  # noqa: S608 - names of columns
_ALL = _FOUND + " ORDER BY app, table_name, name, mapping_id LIMIT 500"
_ONE = _FOUND + " WHERE mapping_id = $1"
_PUT = """INSERT INTO app.mappings (mapping_id, name, app, table_name, columns, filters, sort, down, kind, lang, path, audience, template, by_name, at)
VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (mapping_id) DO UPDATE SET
(name, app, table_name, columns, filters, sort, down, kind, lang, path, audience, template, by_name, at) = (excluded.name, excluded.app,
excluded.table_name, excluded.columns, excluded.filters, excluded.sort, excluded.down, excluded.kind, excluded.lang, excluded.path,
excluded.audience, excluded.template, excluded.by_name, excluded.at)"""
_REMOVE = "DELETE FROM app.mappings WHERE mapping_id = $1"
_USED = "INSERT INTO app.mapping_uses (mapping_id, submission_id, item_id, rows, by_name, at) VALUES ($1, $2, $3, $4, $5, $6)"
_USES = """SELECT u.item_id, u.rows, u.by_name, u.at, s.state, s.title FROM app.mapping_uses u LEFT JOIN app.submissions s USING (submission_id)
WHERE u.mapping_id = $1 ORDER BY u.position DESC LIMIT 20"""


async def every(tx: Tx) -> Sequence[Record]:
    """All of them, with by_name, at, and when each was used last."""
    return await tx.raw.fetch(_ALL)


async def find(tx: Tx, mapping_id: UUID) -> Report | None:
    row = await tx.raw.fetchrow(_ONE, mapping_id)
    return None if row is None else report_of(row)


def report_of(row: Record) -> Report:
    names = ("mapping_id", "name", "app", "sort", "down", "kind", "lang", "path", "audience", "template")
    fields: dict[str, Any] = {name: row[name] for name in names}
    fields |= {name: tuple(json.loads(row[name])) for name in ("columns", "filters")}
    return Report(table=row["table_name"], **fields)


async def put(tx: Tx, report: Report, by: str, at: datetime) -> None:
    listed = (json.dumps(report.columns), json.dumps(report.filters))
    place = (report.kind, report.lang, report.path, report.audience)
    head = (report.mapping_id, report.name, report.app, report.table)
    await tx.raw.execute(_PUT, *head, *listed, report.sort, report.down, *place, report.template, by, at)


async def remove(tx: Tx, mapping_id: UUID) -> None:
    await tx.raw.execute(_REMOVE, mapping_id)


async def used(tx: Tx, report: Report, submission: UUID, item: UUID, rows: int, by: str, at: datetime) -> None:
    await tx.raw.execute(_USED, report.mapping_id, submission, item, rows, by, at)


async def uses(tx: Tx, mapping_id: UUID) -> Sequence[Record]:
    """The newest first."""
    return await tx.raw.fetch(_USES, mapping_id)


async def picked(tx: Tx, shape: Shape, report: Report, filters: Sequence[Filter]) -> Sequence[RowMapping]:
    """One more than a mapping may have, at most."""
    table = sql_of(shape)
    order = (
        [table.c[report.sort].desc().nulls_last() if report.down else table.c[report.sort].asc().nulls_last()]
        if report.sort
        else []
    )
    found = select(*(table.c[name] for name in report.columns)).where(*(clause(shape, table, each) for each in filters))
    return await tx.rows(found.order_by(*order, *(table.c[name] for name in shape.key)).limit(MOST_ROWS + 1))
