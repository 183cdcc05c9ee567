"""Rows of an app's table changed: their fingerprints are made anew after the commit, within 2 s (S14). In the transaction of the change."""

from collections.abc import Iterable
from typing import Final, Literal
from uuid import UUID

from services.console.leaks import store
from shared.db import Tx

ALL: Final = "all"
"""Instead of keys: any row may have changed, as after an import or a changed declaration."""
Key = str | int | UUID | tuple[object, ...] | list[object]
MOST = 1000
"""Keys in one note; more are a note on the whole table."""


async def note_changes(tx: Tx, app: str, table: str, keys: Iterable[Key] | Literal["all"]) -> None:
    """`app`: its slug. `table`: as it is declared, or "" for all its tables. `keys`: of the rows, a tuple where several columns make one; or ALL."""
    listed = None if keys == ALL else [_key(each) for each in keys]
    if listed == []:
        return
    if listed is not None and len(listed) > MOST:
        listed = None
    await store.add_note(tx, app, table, listed)


def _key(key: Key) -> list[str]:
    parts = key if isinstance(key, tuple | list) else (key,)
    return [str(each) for each in parts]
