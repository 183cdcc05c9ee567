"""Fingerprints of one table's rows become what the rows are now, and the lock is told what came and what went."""

import asyncio
from collections.abc import Sequence
from typing import Any

from asyncpg import Record

from services.console.leaks import store
from services.console.leaks.domain import Guarded, Name, row_number, rows_marks
from services.console.leaks.usecases.tell_columns import tell_column
from shared.db import Tx
from shared.leaks.key import LeakKey


async def follow_changes(tx: Tx, key: LeakKey, app: str, table: Guarded | None, name: str) -> bool:
    """Whether anything was done: not while somebody else does it. `table`: None when it has no internal columns (any more)."""
    if not await store.is_mine(tx, f"{app}.{name}"):
        return False
    keys = await store.take_todo(tx, app, name)
    if table is None:
        return True
    held = await store.columns(tx)
    known = {column: held[each] for column in table.columns if (each := Name(app, name, column)) in held}
    numbers = {column: row["number"] for column, row in known.items()}
    await store.open_fresh(tx)
    whole = keys is None or not await _read_some(tx, key, table, keys, numbers)
    if whole:
        await _read_all(tx, key, table, numbers)
    added, gone = await store.replace(tx, list(numbers.values()), whole=whole)
    for column, row in known.items():
        await tell_column(tx, key, Name(app, name, column), row, _of(added, row), _of(gone, row))
    return True


async def _read_all(tx: Tx, key: LeakKey, table: Guarded, numbers: dict[str, int]) -> None:
    async for rows in store.all_rows(tx, table):
        await store.put_fresh(tx, await _marks(key, table, rows, numbers))


async def _read_some(tx: Tx, key: LeakKey, table: Guarded, keys: list[list[str]], numbers: dict[str, int]) -> bool:
    rows = await store.some_rows(tx, table, keys)
    if rows is None:
        return False
    await store.mean_rows(tx, [row_number(key.seeking, each) for each in keys])
    await store.put_fresh(tx, await _marks(key, table, rows, numbers))
    return True


async def _marks(
    key: LeakKey, table: Guarded, rows: Sequence[Any], numbers: dict[str, int]
) -> list[tuple[int, int, int]]:
    """In a thread: a page that somebody waits for goes first."""
    return await asyncio.to_thread(rows_marks, key.seeking, table, rows, numbers)


def _of(found: Sequence[Record], column: Record) -> list[int]:
    return [row["mark"] for row in found if row["number"] == column["number"]]
