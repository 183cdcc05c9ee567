"""Rows of apps' tables, changed: every change with its history, its version, and a word to the leak guard, in one transaction."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy import RowMapping, and_, select, update
from sqlalchemy.exc import DBAPIError

from services.console.apps.declared import quoted
from services.console.leaks.note import note_changes
from services.console.records.domain import By, Change, Shape, read_key, texts
from services.console.records.places import place_of, sql_of
from services.console.records.values import Value, plain_value
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused

_HISTORY = (
    "app",
    "table_name",
    "row_key",
    "what",
    "before",
    "after",
    "by_id",
    "by_name",
    "how",
    "batch",
    "undoes",
    "at",
)
KNOWN = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, asyncpg.ProgramLimitExceededError)
"""What a person can put right."""
AT_ONCE = 5000
"""Rows in one statement."""


async def row(tx: Tx, shape: Shape, key: Mapping[str, Value], *, lock: bool = False) -> RowMapping | None:
    """`lock`: nobody else changes it until the transaction ends."""
    table = sql_of(shape)
    found = select(table).where(and_(*(table.c[name] == value for name, value in key.items())))
    return await tx.row(found.with_for_update() if lock else found)


async def get(tx: Tx, shape: Shape, key: str, *, lock: bool = False) -> RowMapping:
    """NotFound when there is no such row."""
    found = await row(tx, shape, shape.key_values(key), lock=lock)
    if found is None:
        raise NotFound("There is no such row; somebody may have deleted it.", code="row")
    return found


async def add(tx: Tx, shape: Shape, rows: Sequence[Mapping[str, Value]], by: By) -> list[str]:
    """Their keys. Every row names the same columns. Refused, Conflict in words when a constraint forbids it; then none is added."""
    found: list[Any] = []
    for start in range(0, len(rows), AT_ONCE):
        found += await _insert(tx, shape, rows[start : start + AT_ONCE], by)
    await _note(tx, shape, [Change(shape.key_of(each), "added", None, texts(shape, each)) for each in found], by)
    return [shape.key_of(each) for each in found]


async def _insert(tx: Tx, shape: Shape, rows: Sequence[Mapping[str, Value]], by: By) -> list[Any]:
    names = list(rows[0])
    columns = ", ".join(quoted(each) for each in names)
    statement = (
        f"INSERT INTO {place_of(shape)} ({columns + ', ' if columns else ''}_changed_by)"  # noqa: S608 - names of a declaration, quoted
        f" SELECT {columns + ', ' if columns else ''}$2 FROM jsonb_populate_recordset(NULL::{place_of(shape)}, $1::jsonb) RETURNING *"
    )
    plain = [{name: plain_value(each[name]) for name in names} for each in rows]
    async with worded(tx, shape):
        return list(await tx.raw.fetch(statement, json.dumps(plain), by.name))


async def change(tx: Tx, shape: Shape, held: Mapping[Any, Any], values: Mapping[str, Value], by: By) -> str:
    """The row's key afterwards. `held`: the row as `get` locked it. Nothing happens when nothing differs."""
    fresh = {
        name: value for name, value in values.items() if held[name] != value or type(held[name]) is not type(value)
    }
    key = shape.key_of(held)
    if not fresh:
        return key
    table = sql_of(shape)
    own = {"_version": held["_version"] + 1, "_changed_at": now(), "_changed_by": by.name}
    this = and_(*(table.c[name] == held[name] for name in shape.key))
    async with worded(tx, shape):
        await tx.execute(update(table).where(this).values({**fresh, **own}))
    after = dict(held) | fresh
    before_texts, after_texts = texts(shape, held), texts(shape, after)
    changed = Change(
        key, "changed", {name: before_texts[name] for name in fresh}, {name: after_texts[name] for name in fresh}
    )
    await _note(tx, shape, [changed], by, [shape.key_of(after)])
    return shape.key_of(after)


async def delete(tx: Tx, shape: Shape, keys: Sequence[str], by: By) -> list[dict[str, Any]]:
    """The rows that went. Those that are not there (any more) are passed over. Refused when other rows refer to one."""
    named = [shape.key_values(each) for each in keys]
    plain = [{name: plain_value(value) for name, value in each.items()} for each in named]
    same = " AND ".join(f"t.{quoted(each)} = k.{quoted(each)}" for each in shape.key)
    statement = (
        f"DELETE FROM {place_of(shape)} t USING jsonb_populate_recordset(NULL::{place_of(shape)}, $1::jsonb) k"  # noqa: S608 - names of a declaration, quoted
        f" WHERE {same} RETURNING t.*"
    )
    gone: list[dict[str, Any]] = []
    async with worded(tx, shape):
        for start in range(0, len(plain), AT_ONCE):
            gone += [dict(each) for each in await tx.raw.fetch(statement, json.dumps(plain[start : start + AT_ONCE]))]
    await _note(tx, shape, [Change(shape.key_of(each), "deleted", texts(shape, each), None) for each in gone], by)
    return gone


async def _note(tx: Tx, shape: Shape, changes: Sequence[Change], by: By, more: Sequence[str] = ()) -> None:
    if not changes:
        return
    await keep_history(tx, shape, changes, by)
    keys = dict.fromkeys([*(each.key for each in changes), *more])
    await note_changes(tx, shape.app, shape.name, [tuple(read_key(each)) for each in keys])


async def keep_history(tx: Tx, shape: Shape, changes: Sequence[Change], by: By) -> None:
    at = now()
    rows = [
        (shape.app, shape.name, each.key, each.what, _json(each.before), _json(each.after), by.id, by.name, by.how, by.batch, by.undoes, at)
        for each in changes
    ]  # fmt: skip
    await tx.raw.copy_records_to_table("record_history", schema_name="app", columns=_HISTORY, records=rows)


def _json(found: Mapping[str, str | None] | None) -> str | None:
    return None if found is None else json.dumps(found, ensure_ascii=False)


@asynccontextmanager
async def worded(tx: Tx, shape: Shape) -> AsyncIterator[None]:
    """What a constraint forbids, in words; the transaction can go on."""
    try:
        async with tx.savepoint():
            yield
    except DBAPIError as error:
        if not isinstance(getattr(error.orig, "__cause__", None), KNOWN):
            raise
        raise _fault(shape, getattr(error.orig, "__cause__", None)) from None
    except KNOWN as error:
        raise _fault(shape, error) from None


def _fault(shape: Shape, error: Any) -> Refused | Conflict:
    detail = str(getattr(error, "detail", "") or "")
    match error:
        case asyncpg.UniqueViolationError():
            return Conflict(f"{shape.name} has such a row already: {detail}", code="exists")
        case asyncpg.ForeignKeyViolationError():
            return Refused(f"The reference does not hold: {detail}", code="reference")
        case asyncpg.NotNullViolationError():
            return Refused(f"{error.column_name} must not be empty.", code="value")
        case asyncpg.ProgramLimitExceededError():
            return Refused(
                f"That is too much for one row of {shape.name}: shorten values, or fill fewer columns ({error}).",
                code="too_large",
            )
    return Refused(f"{shape.name} does not take that: {error}", code="value")
