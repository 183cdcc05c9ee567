"""Records, read: a page of a table by filter and order, one row's history.

Each page goes on from where the last one ended: as quick at the end of a million rows as at the beginning.

Rows without a value in the column of the order come last, up or down. They are asked for apart, since an index has them at the other end.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, String, and_, cast, exists, func, literal, select, tuple_
from sqlalchemy import Table as SqlTable

from schemas.text import BadJson, parse_json
from services.console.records.domain import Ask, Filter, Shape
from services.console.records.places import place_of, sql_of
from services.console.records.tables import record_history
from services.console.records.values import read_value, show_value
from shared.db import Tx
from shared.errors import Refused

COUNTED = 10_000
"""Rows that are counted exactly; of more it is said how many about."""
HISTORY = 100
CUT = 160
"""Characters of a value in a list; the row's own page has it whole."""
PATIENCE = "SET LOCAL statement_timeout = '10s'"
_ABOUT = "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1)"
RANGES = frozenset({"less", "more", "from", "to", "starts"})
Clause = ColumnElement[bool]


@dataclass(frozen=True)
class Page:
    """`back`, `on`: places to go on from, empty where there is nothing. `about`: `count` is the database's estimate."""

    rows: Sequence[RowMapping]
    back: str
    on: str
    count: int
    about: bool
    order: str


@dataclass(frozen=True)
class _Walk:
    """One direction through one table. `column`: of the order, None for the key alone. `down`: as the statement goes, which is backwards for the page before."""

    shape: Shape
    table: SqlTable
    column: str | None
    down: bool
    columns: tuple[Any, ...]

    def keyed(self, *, with_value: bool) -> list[Any]:
        names = [self.column] if with_value and self.column else []
        return [self.table.c[name] for name in (*names, *self.shape.key)]


async def page(tx: Tx, shape: Shape, ask: Ask, *, whole: bool = False) -> Page:
    """In a transaction of its own: it takes at most 10 s. `whole`: every column, as long as it is. Refused for a column that there is not."""
    await tx.raw.execute(PATIENCE)
    table, order = sql_of(shape), order_of(shape, ask)
    where = [clause(shape, table, each) for each in ask.filters]
    backwards = bool(ask.before)
    column = None if order == shape.key[0] else order
    walk = _Walk(shape, table, column, ask.down != backwards, tuple(table.c) if whole else _columns(shape, table, ask))
    place = _read_place(shape, column, ask.before or ask.after)
    found = await _rows(tx, walk, where, place, ask.limit + 1, backwards=backwards)
    more, rows = len(found) > ask.limit, found[: ask.limit]
    if backwards:
        rows = rows[::-1]
    has_back, has_on = (more, True) if backwards else (place is not None, more)
    count, about = await _count(tx, shape, table, where)
    return Page(
        rows,
        _write_place(shape, column, rows[0]) if rows and has_back else "",
        _write_place(shape, column, rows[-1]) if rows and has_on else "",
        count,
        about,
        order,
    )


async def portion(
    tx: Tx, shape: Shape, filters: Sequence[Filter], after: str, limit: int
) -> tuple[Sequence[RowMapping], str]:
    """Whole rows in the order of their keys, and the place to go on from, empty at the end: each row comes once, whatever changes meanwhile."""
    table = sql_of(shape)
    walk = _Walk(shape, table, None, False, tuple(table.c))
    where = [clause(shape, table, each) for each in filters]
    found = await _rows(tx, walk, where, _read_place(shape, None, after), limit, backwards=False)
    return found, _write_place(shape, None, found[-1]) if len(found) == limit else ""


def order_of(shape: Shape, ask: Ask) -> str:
    """What was asked for; else the column of a range that is asked for, whose index has the rows in that order; else the key."""
    if ask.sort:
        column = shape.column(ask.sort)
        if column.type == "json":
            raise Refused(f"{ask.sort} is JSON, which has no order.", code="sort")
        return ask.sort
    ranged = next((each.column for each in ask.filters if each.op in RANGES), None)
    return ranged if ranged and shape.columns[ranged].type != "json" else shape.key[0]


async def _rows(
    tx: Tx, walk: _Walk, where: list[Clause], place: list[Any] | None, limit: int, *, backwards: bool
) -> list[RowMapping]:
    if walk.column is None:
        return list(await tx.rows(_statement(walk, where, place, limit, with_value=False)))
    value = walk.table.c[walk.column]
    parts: list[tuple[bool, Clause]] = [(True, value.is_not(None)), (False, value.is_(None))]
    found: list[RowMapping] = []
    reached = place is None
    for filled, only in parts[::-1] if backwards else parts:
        here = place is not None and not reached and filled == (place[0] is not None)
        reached = reached or here
        if reached and len(found) < limit:
            at = place[(0 if filled else 1) :] if here and place is not None else None
            found += await tx.rows(_statement(walk, [*where, only], at, limit - len(found), with_value=filled))
    return found


def _statement(walk: _Walk, where: list[Clause], place: list[Any] | None, limit: int, *, with_value: bool) -> Any:
    keyed = walk.keyed(with_value=with_value)
    found = select(*walk.columns).where(*where)
    if place is not None:
        here = tuple_(*keyed)
        there = tuple_(*(literal(value, each.type) for value, each in zip(place, keyed, strict=True)))
        found = found.where(here < there if walk.down else here > there)
    return found.order_by(*(each.desc() if walk.down else each for each in keyed)).limit(limit)


def _columns(shape: Shape, table: SqlTable, ask: Ask) -> tuple[Any, ...]:
    """What is shown, cut where it is long; keys, the order and what a row is called by stay whole."""
    whole = {*shape.key, order_of(shape, ask), *([shape.table.name_by] if shape.table.name_by else [])}
    shown = [name for name in ask.columns or shape.columns if name not in whole]
    cut = [
        func.left(cast(table.c[name], String), CUT + 1).label(name)
        if shape.columns[name].type in {"text", "json"}
        else table.c[name]
        for name in shown
    ]
    return (*(table.c[name] for name in sorted(whole)), *cut)


def clause(shape: Shape, table: SqlTable, asked: Filter) -> Clause:
    column = table.c[asked.column]
    declared = shape.columns[asked.column].model_copy(update={"choices": (), "required": False})
    text = column if declared.type == "text" else cast(column, String)
    match asked.op:
        case "empty":
            return column.is_(None)
        case "filled":
            return column.is_not(None)
        case "contains":
            return text.icontains(asked.value, autoescape=True)
        case "starts" if declared.type == "text":  # a range, which an index finds
            return and_(column >= asked.value, column < asked.value + "\U0010ffff")
        case "starts":
            return text.startswith(asked.value, autoescape=True)
    value = literal(read_value(declared, asked.value), column.type)  # never Python's own True, which `<` cannot take
    found: dict[str, Any] = {
        "is": column == value,
        "not": column.is_distinct_from(value),
        "less": column < value,
        "more": column > value,
        "from": column >= value,
        "to": column <= value,
    }
    answer: Clause = found[asked.op]
    return answer


async def count_rows(tx: Tx, shape: Shape) -> int:
    """About, where there are many."""
    return (await _count(tx, shape, sql_of(shape), []))[0]


async def _count(tx: Tx, shape: Shape, table: SqlTable, where: list[Clause]) -> tuple[int, bool]:
    some = select(literal(1)).select_from(table).where(*where).limit(COUNTED + 1).subquery()
    count = int(await tx.value(select(func.count()).select_from(some)))
    if count <= COUNTED:
        return count, False
    about = int(await tx.raw.fetchval(_ABOUT, place_of(shape)) or 0) if not where else 0
    return max(about, COUNTED), True


def _write_place(shape: Shape, column: str | None, row: RowMapping) -> str:
    value = [] if column is None else [None if row[column] is None else show_value(row[column])]
    return json.dumps([*value, *(show_value(row[name]) for name in shape.key)], ensure_ascii=False)


def _read_place(shape: Shape, column: str | None, text: str) -> list[Any] | None:
    """None for none, and for one that fits no row of this table: the first page then."""
    names = [*([] if column is None else [column]), *shape.key]
    try:
        texts = parse_json(text.encode("utf-8", "replace")) if text else None
        if not isinstance(texts, list) or len(texts) != len(names):
            return None
        loose = [shape.columns[name].model_copy(update={"choices": (), "required": False}) for name in names]
        return [None if each is None else read_value(one, str(each)) for one, each in zip(loose, texts, strict=True)]
    except (BadJson, Refused):
        return None


async def entry(tx: Tx, shape: Shape, position: int) -> RowMapping | None:
    """One entry of this table's history; `undone`: whether it was taken back."""
    later = record_history.alias("later")
    undone = exists().where(later.c.undoes == record_history.c.position).label("undone")
    found = select(record_history, undone).where(record_history.c.position == position)
    return await tx.row(found.where(record_history.c.app == shape.app, record_history.c.table_name == shape.name))


async def history(tx: Tx, shape: Shape, key: str = "", limit: int = HISTORY) -> Sequence[RowMapping]:
    """The newest first, of one row or of the whole table."""
    later = record_history.alias("later")
    undone = exists().where(later.c.undoes == record_history.c.position).label("undone")
    found = select(record_history, undone).where(
        record_history.c.app == shape.app, record_history.c.table_name == shape.name
    )
    if key:
        found = found.where(record_history.c.row_key == key)
    return await tx.rows(found.order_by(record_history.c.position.desc()).limit(limit))
