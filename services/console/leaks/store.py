"""Rows of the leak guard in console_db, and the rows of apps that it reads."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime

from asyncpg import DataError, Record

from services.console.apps.declared import quoted
from services.console.leaks.domain import Guarded, Name
from shared.db import Tx
from shared.ids import new_id

AT_ONCE = 500
_LOCK = "SELECT pg_try_advisory_xact_lock(hashtext('schleuse leaks'), hashtext($1))"
_COLUMNS = "SELECT number, column_id, app, table_name, column_name, key_id, sequence, whole_sequence, complete FROM app.leak_columns"
_ADD = "INSERT INTO app.leak_columns (column_id, app, table_name, column_name, key_id) VALUES ($1, $2, $3, $4, $5)"
_DROP = """WITH gone AS (DELETE FROM app.leak_columns WHERE number = ANY ($1::int[]) RETURNING number)
DELETE FROM app.leak_marks USING gone WHERE leak_marks.number = gone.number"""
_AFRESH = "UPDATE app.leak_columns SET key_id = $1, complete = false WHERE key_id <> $1 RETURNING number"
_FORGET = "DELETE FROM app.leak_marks WHERE number = ANY ($1::int[])"
_SPREAD = """WITH every AS (DELETE FROM app.leak_todo WHERE table_name = '' RETURNING app)
INSERT INTO app.leak_todo (app, table_name) SELECT DISTINCT t.app, t.name FROM every JOIN unnest($1::text[], $2::text[]) AS t(app, name) USING (app)"""
_NOTE_ALL = """INSERT INTO app.leak_todo (app, table_name) SELECT DISTINCT app, table_name FROM app.leak_columns c WHERE NOT complete
  AND NOT EXISTS (SELECT FROM app.leak_todo t WHERE t.app = c.app AND t.table_name = c.table_name AND t.keys IS NULL)"""
_TABLES = """SELECT app, table_name, bool_or(keys IS NULL) AS whole FROM app.leak_todo
GROUP BY app, table_name ORDER BY min(position)"""
_TODO = "DELETE FROM app.leak_todo WHERE app = $1 AND table_name = $2 RETURNING keys::text AS keys"
_WAITING = "SELECT extract(epoch FROM clock_timestamp() - min(at))::float8 FROM app.leak_todo"
_FRESH = "CREATE TEMP TABLE IF NOT EXISTS leak_fresh (number int, row_number bigint, mark bigint) ON COMMIT DELETE ROWS"
_ROWS = "CREATE TEMP TABLE IF NOT EXISTS leak_rows_meant (row_number bigint PRIMARY KEY) ON COMMIT DELETE ROWS"
_ADDED = """SELECT DISTINCT number, mark FROM leak_fresh f WHERE NOT EXISTS (
  SELECT FROM app.leak_marks m WHERE m.number = f.number AND m.mark = f.mark)"""
_TAKEN = """WITH old AS (DELETE FROM app.leak_marks WHERE number = ANY ($1::int[])
  AND ($2 OR row_number IN (SELECT row_number FROM leak_rows_meant)) RETURNING number, mark)
SELECT DISTINCT number, mark FROM old"""
_PUT = "INSERT INTO app.leak_marks SELECT DISTINCT number, row_number, mark FROM leak_fresh ON CONFLICT DO NOTHING"
_LEFT = """SELECT DISTINCT t.number, t.mark FROM unnest($1::int[], $2::bigint[]) AS t(number, mark) WHERE NOT EXISTS (
  SELECT FROM app.leak_marks m WHERE m.number = t.number AND m.mark = t.mark)"""
_ALL = "SELECT DISTINCT mark FROM app.leak_marks WHERE number = $1"
_TOLD = "UPDATE app.leak_columns SET sequence = $2, whole_sequence = $3, complete = true WHERE number = $1"
_LIST = "SELECT key_id, sequence, said, at FROM app.leak_lists"
_LISTED = """INSERT INTO app.leak_lists (key_id, sequence, said, at) VALUES ($1, $2, $3, $4)
ON CONFLICT (one) DO UPDATE SET (key_id, sequence, said, at) = (excluded.key_id, excluded.sequence, excluded.said, excluded.at)"""


async def add_note(tx: Tx, app: str, table: str, keys: Sequence[Sequence[str]] | None) -> None:
    """Rows of a table whose fingerprints are to be made anew; None: any of them."""
    listed = None if keys is None else json.dumps(keys)
    await tx.raw.execute(
        "INSERT INTO app.leak_todo (app, table_name, keys) VALUES ($1, $2, $3::jsonb)", app, table, listed
    )


async def is_mine(tx: Tx, what: str) -> bool:
    """Whether nobody else works on this until the transaction ends."""
    return bool(await tx.raw.fetchval(_LOCK, what))


async def columns(tx: Tx) -> dict[Name, Record]:
    return {Name(row["app"], row["table_name"], row["column_name"]): row for row in await tx.raw.fetch(_COLUMNS)}


async def add_columns(tx: Tx, names: Iterable[Name], key_id: str) -> None:
    await tx.raw.executemany(_ADD, [(new_id(), each.app, each.table, each.column, key_id) for each in names])


async def drop_columns(tx: Tx, numbers: Sequence[int]) -> None:
    await tx.raw.execute(_DROP, numbers)


async def begin_afresh(tx: Tx, key_id: str) -> None:
    """What was made with another key is worth nothing."""
    numbers = [row["number"] for row in await tx.raw.fetch(_AFRESH, key_id)]
    if numbers:
        await tx.raw.execute(_FORGET, numbers)


async def spread(tx: Tx, tables: Iterable[Guarded]) -> None:
    """Notes on all tables of an app become one for each; columns that were never looked at, one for their table."""
    listed = [(each.app, each.table) for each in tables]
    await tx.raw.execute(_SPREAD, [app for app, _ in listed], [name for _, name in listed])
    await tx.raw.execute(_NOTE_ALL)


async def changed_tables(tx: Tx) -> Sequence[Record]:
    """app, table_name, whole: in which rows changed, and whether all of them may have. An app as a whole has the table ""."""
    return await tx.raw.fetch(_TABLES)


async def take_todo(tx: Tx, app: str, table: str) -> list[list[str]] | None:
    """The keys of rows that changed; None: all may have. The notes are gone when the transaction commits."""
    found = [row["keys"] for row in await tx.raw.fetch(_TODO, app, table)]
    return None if None in found else [key for keys in found for key in json.loads(keys)]


async def waiting(tx: Tx) -> float | None:
    """Seconds for which the oldest change waits."""
    found: float | None = await tx.raw.fetchval(_WAITING)
    return found


async def open_fresh(tx: Tx) -> None:
    """Where the marks of rows that are being read are put, until the end of the transaction."""
    await tx.raw.execute(_FRESH)
    await tx.raw.execute(_ROWS)


async def put_fresh(tx: Tx, found: Sequence[tuple[int, int, int]]) -> None:
    """(column, row, mark)."""
    await tx.raw.copy_records_to_table("leak_fresh", records=found)


async def mean_rows(tx: Tx, rows: Iterable[int]) -> None:
    """The rows of which everything that was known is replaced."""
    await tx.raw.copy_records_to_table("leak_rows_meant", records=[(each,) for each in set(rows)])


async def replace(tx: Tx, numbers: Sequence[int], *, whole: bool) -> tuple[Sequence[Record], Sequence[Record]]:
    """(column, mark) of what came and of what went. `whole`: of all rows, else of those that are meant."""
    added = await tx.raw.fetch(_ADDED)
    old = await tx.raw.fetch(_TAKEN, numbers, whole)
    await tx.raw.execute(_PUT)
    gone = await tx.raw.fetch(_LEFT, [row["number"] for row in old], [row["mark"] for row in old])
    return added, gone


async def marks_of(tx: Tx, number: int) -> list[int]:
    return [row["mark"] for row in await tx.raw.fetch(_ALL, number)]


async def told(tx: Tx, number: int, sequence: int, whole_sequence: int) -> None:
    await tx.raw.execute(_TOLD, number, sequence, whole_sequence)


async def last_list(tx: Tx) -> Record | None:
    return await tx.raw.fetchrow(_LIST)


async def listed(tx: Tx, key_id: str, sequence: int, said: str, at: datetime) -> None:
    await tx.raw.execute(_LISTED, key_id, sequence, said, at)


async def all_rows(tx: Tx, table: Guarded) -> AsyncIterator[Sequence[Record]]:
    """Key and internal columns of every row, some at a time."""
    cursor = await tx.raw.cursor(f"SELECT {_wanted(table)} FROM {_place(table)} t")  # noqa: S608 - names of a declaration, quoted
    while rows := await cursor.fetch(AT_ONCE):
        yield rows


async def some_rows(tx: Tx, table: Guarded, keys: Sequence[Sequence[str]]) -> Sequence[Record] | None:
    """Those with these keys; None when a key is none of this table's, as after its key was changed."""
    same = " AND ".join(f"t.{quoted(each)} = k.{quoted(each)}" for each in table.key)
    statement = f"SELECT {_wanted(table)} FROM {_place(table)} t JOIN jsonb_populate_recordset(NULL::{_place(table)}, $1::jsonb) k ON {same}"  # noqa: S608 - as above
    if any(len(each) != len(table.key) for each in keys):
        return None
    named = [dict(zip(table.key, each, strict=True)) for each in keys]
    try:
        async with tx.savepoint():
            return await tx.raw.fetch(statement, json.dumps(named))
    except DataError:
        return None


def _wanted(table: Guarded) -> str:
    """Key columns by their number, then the internal ones."""
    keys = [f"t.{quoted(each)} AS _key_{number}" for number, each in enumerate(table.key)]
    return ", ".join([*keys, *(_read(table, each) for each in table.columns)])


def _read(table: Guarded, column: str) -> str:
    """JSON as text, whatever the connection makes of it otherwise."""
    return f"t.{quoted(column)}{f'::text AS {quoted(column)}' if column in table.documents else ''}"


def _place(table: Guarded) -> str:
    return f"{quoted(table.schema)}.{quoted(table.table)}"
