"""Files on their way into a table: kept in pieces, tried beside the table, and put into it in one statement."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, delete, func, insert, select, update

from services.console.apps.declared import quoted
from services.console.imports.checking import Checked
from services.console.leaks.note import ALL, note_changes
from services.console.records.domain import By, Change, Shape, texts
from services.console.records.places import place_of
from services.console.records.store import keep_history, worded
from services.console.records.tables import import_pieces, record_imports
from services.console.records.values import Value
from shared.db import Tx

PIECE = 4 * 1024 * 1024
"""Bytes of one piece at most."""
KEPT = timedelta(days=1)
"""A file that nobody imports is thrown away."""
TRIED = "import_rows"
NOTED = 2000
"""Rows whose history is written at once."""
PATIENCE = "SET LOCAL idle_in_transaction_session_timeout = '60s'"


async def begin(tx: Tx, row: Mapping[str, Any]) -> None:
    await tx.execute(insert(record_imports).values(row))


async def add_piece(tx: Tx, import_id: UUID, number: int, piece: bytes) -> None:
    await tx.execute(insert(import_pieces).values(import_id=import_id, number=number, piece=piece))


async def size(tx: Tx, import_id: UUID) -> int:
    found = select(func.sum(func.length(import_pieces.c.piece))).where(import_pieces.c.import_id == import_id)
    return int(await tx.value(found) or 0)


async def file(tx: Tx, import_id: UUID) -> bytes:
    """Empty when it is gone."""
    found = select(import_pieces.c.piece).where(import_pieces.c.import_id == import_id)
    return b"".join(each["piece"] for each in await tx.rows(found.order_by(import_pieces.c.number)))


async def find(tx: Tx, import_id: UUID, *, lock: bool = False) -> RowMapping | None:
    found = select(record_imports).where(record_imports.c.import_id == import_id)
    return await tx.row(found.with_for_update() if lock else found)


async def newest(tx: Tx, app: str, table: str, limit: int = 10) -> Sequence[RowMapping]:
    found = select(record_imports).where(record_imports.c.app == app, record_imports.c.table_name == table)
    return await tx.rows(found.order_by(record_imports.c.at.desc()).limit(limit))


async def move(tx: Tx, import_id: UUID, at: datetime, **fields: Any) -> None:
    changed = update(record_imports).where(record_imports.c.import_id == import_id)
    await tx.execute(changed.values(moved_at=at, **fields))


async def drop_file(tx: Tx, import_id: UUID) -> None:
    await tx.execute(delete(import_pieces).where(import_pieces.c.import_id == import_id))


async def drop_old(tx: Tx, at: datetime) -> None:
    old = select(record_imports.c.import_id).where(record_imports.c.moved_at < at - KEPT)
    await tx.execute(delete(import_pieces).where(import_pieces.c.import_id.in_(old)))


async def lay_beside(tx: Tx, shape: Shape, checked: Checked) -> None:
    """The rows in a table of this transaction's own."""
    columns = ", ".join(quoted(each) for each in checked.columns)
    await tx.raw.execute(PATIENCE)
    await tx.raw.execute(
        f"CREATE TEMP TABLE {TRIED} ON COMMIT DROP AS SELECT 0 AS _line{', ' + columns if columns else ''} FROM {place_of(shape)} WITH NO DATA"  # noqa: S608 - names of a declaration, quoted
    )
    json_at = {number for number, name in enumerate(checked.columns) if shape.columns[name].type == "json"}
    await tx.raw.copy_records_to_table(TRIED, columns=("_line", *checked.columns), records=_for_copy(checked, json_at))
    await tx.raw.execute(f"ANALYZE {TRIED}")


def _for_copy(checked: Checked, json_at: set[int]) -> Iterator[tuple[Value, ...]]:
    if not json_at:
        return ((line, *row) for line, row in zip(checked.lines, checked.rows, strict=True))
    return (
        (
            line,
            *(
                json.dumps(value) if number in json_at and value is not None else value
                for number, value in enumerate(row)
            ),
        )
        for line, row in zip(checked.lines, checked.rows, strict=True)
    )


async def unfit(tx: Tx, shape: Shape, columns: Sequence[str], *, replace: bool) -> dict[int, str]:
    """Lines that the table would not take beside what is in it, and why."""
    found: dict[int, str] = {}
    keyed = set(shape.key) <= set(columns)
    if keyed and not replace:
        found |= await _lines(tx, _taken(shape, shape.key), "there is such a row already.")
    for name in columns:
        column = shape.columns[name]
        if column.unique and (name,) != shape.key:
            twice = f"{name} has this value in another row; it must be unique."
            found |= await _lines(tx, _taken(shape, (name,), shape.key if keyed and replace else ()), twice)
            found |= await _lines(tx, _doubled(name), twice)
        if column.references:
            target, _, other = column.references.partition(".")
            missing = f"{name}: {target} has no row with this {other}."
            found |= await _lines(tx, _dangling(shape, name, target, other, columns), missing)
    return found


async def _lines(tx: Tx, statement: str, words: str) -> dict[int, str]:
    return {row["_line"]: words for row in await tx.raw.fetch(statement)}


def _taken(shape: Shape, names: Sequence[str], other_than: Sequence[str] = ()) -> str:
    same = " AND ".join(f"t.{quoted(each)} = n.{quoted(each)}" for each in names)
    other = f" AND ({', '.join(f't.{quoted(each)}' for each in other_than)}) <> ({', '.join(f'n.{quoted(each)}' for each in other_than)})" if other_than else ""  # fmt: skip
    return f"SELECT n._line FROM {TRIED} n JOIN {place_of(shape)} t ON {same}{other}"  # noqa: S608 - names of a declaration, quoted


def _doubled(name: str) -> str:
    return (
        f"SELECT _line FROM (SELECT _line, row_number() OVER (PARTITION BY {quoted(name)} ORDER BY _line) AS nth"  # noqa: S608 - names of a declaration, quoted
        f" FROM {TRIED} WHERE {quoted(name)} IS NOT NULL) each WHERE nth > 1"
    )


def _dangling(shape: Shape, name: str, target: str, other: str, columns: Sequence[str]) -> str:
    place = f"{quoted(shape.schema)}.{quoted(target)}"
    itself = f" AND NOT EXISTS (SELECT FROM {TRIED} m WHERE m.{quoted(other)} = n.{quoted(name)})" if target == shape.name and other in columns else ""  # fmt: skip
    return (
        f"SELECT n._line FROM {TRIED} n WHERE n.{quoted(name)} IS NOT NULL"  # noqa: S608 - names of a declaration, quoted
        f" AND NOT EXISTS (SELECT FROM {place} t WHERE t.{quoted(other)} = n.{quoted(name)}){itself}"
    )


async def put_in(
    tx: Tx, shape: Shape, columns: Sequence[str], lines: Sequence[int], by: By, *, replace: bool
) -> tuple[int, int]:
    """How many rows were added and changed, of those that stand in `lines`; with their history, and one word to the leak guard."""
    before = {each.key: each for each in await _held(tx, shape)} if replace else {}
    async with worded(tx, shape):
        rows: list[Any] = await tx.raw.fetch(_put(shape, columns, replace=replace), by.name, list(lines))
    changed = 0
    for start in range(0, len(rows), NOTED):  # others have their turn between two portions
        changes = [_change(shape, row, before.get(shape.key_of(row))) for row in rows[start : start + NOTED]]
        await keep_history(tx, shape, changes, by)
        changed += sum(each.what == "changed" for each in changes)
    if shape.numbered and "id" in columns:
        await tx.raw.execute(
            f"SELECT setval(pg_get_serial_sequence('{place_of(shape)}', 'id'), GREATEST((SELECT max(id) FROM {place_of(shape)}), 1))"  # noqa: S608 - names of a declaration, quoted
        )
    if rows:
        await note_changes(tx, shape.app, shape.name, ALL)
    return len(rows) - changed, changed


async def _held(tx: Tx, shape: Shape) -> list[Change]:
    """Rows that will be changed, as they are; nobody else changes them until the end."""
    same = " AND ".join(f"t.{quoted(each)} = n.{quoted(each)}" for each in shape.key)
    rows = await tx.raw.fetch(f"SELECT t.* FROM {place_of(shape)} t JOIN {TRIED} n ON {same} FOR UPDATE OF t")  # noqa: S608 - names of a declaration, quoted
    return [Change(shape.key_of(each), "changed", texts(shape, each), None) for each in map(dict, rows)]


def _put(shape: Shape, columns: Sequence[str], *, replace: bool) -> str:
    named = ", ".join(quoted(each) for each in columns)
    rest = [each for each in columns if each not in shape.key]
    statement = (
        f"INSERT INTO {place_of(shape)} AS t ({named}, _changed_by) SELECT {named}, $1 FROM {TRIED}"  # noqa: S608 - names of a declaration, quoted
        " WHERE _line = ANY($2::int[]) ORDER BY _line"
    )
    if replace and rest:
        sets = ", ".join(f"{quoted(each)} = excluded.{quoted(each)}" for each in rest)
        differ = " OR ".join(f"t.{quoted(each)} IS DISTINCT FROM excluded.{quoted(each)}" for each in rest)
        keys = ", ".join(quoted(each) for each in shape.key)
        statement += f" ON CONFLICT ({keys}) DO UPDATE SET {sets}, _version = t._version + 1, _changed_at = clock_timestamp(), _changed_by = $1 WHERE {differ}"
    return statement + " RETURNING t.*"


def _change(shape: Shape, row: Any, before: Change | None) -> Change:
    after = texts(shape, row)
    if before is None or before.before is None:
        return Change(shape.key_of(row), "added", None, after)
    was = before.before
    differs = [name for name, text in after.items() if was[name] != text]
    return Change(before.key, "changed", {name: was[name] for name in differs}, {name: after[name] for name in differs})
