"""An entry of a row's history is taken back: as a new change, and only where nobody went on from it."""

from typing import Any

from services.console.apps.domain import InstalledApp
from services.console.records import store, views
from services.console.records.domain import By, Shape, Who, by_whom, shape_of
from services.console.records.values import Value, read_value, show_value
from shared.db import Tx
from shared.errors import Conflict, NotFound


async def undo_change(tx: Tx, app: InstalledApp, table: str, position: int, by: Who) -> str:
    """The row's key. Conflict when it was undone before, or when the row has gone on since; NotFound for no entry of this table."""
    shape, whose = shape_of(app, table), by_whom(by, "undo", undoes=position)
    entry = await views.entry(tx, shape, position)
    if entry is None:
        raise NotFound("There is no such change.")
    if entry["undone"]:
        raise Conflict("That change was undone already.", code="undone")
    if entry["before"] is None and entry["after"] is None:
        raise Conflict("A cleanup job did that; its rows are restored on the page of its run.", code="job")
    key = str(entry["row_key"])
    match entry["what"]:
        case "added":
            return await _take_away(tx, shape, key, entry["after"], whose)
        case "deleted":
            return (await store.add(tx, shape, [_typed(shape, entry["before"])], whose))[0]
    return await _put_back(tx, shape, entry, whose)


async def _take_away(tx: Tx, shape: Shape, key: str, after: dict[str, Any], by: By) -> str:
    held = await store.get(tx, shape, key, lock=True)
    _same(shape, held, after)
    await store.delete(tx, shape, [key], by)
    return key


async def _put_back(tx: Tx, shape: Shape, entry: Any, by: By) -> str:
    texts = shape.key_values(entry["row_key"])
    now_at = shape.key_of(
        texts | {name: value for name, value in _typed(shape, entry["after"]).items() if name in texts}
    )
    held = await store.get(tx, shape, now_at, lock=True)
    _same(shape, held, entry["after"])
    return await store.change(tx, shape, held, _typed(shape, entry["before"]), by)


def _typed(shape: Shape, texts: dict[str, Any]) -> dict[str, Value]:
    """A column that the table has no more is left out."""
    loose = {name: shape.columns[name].model_copy(update={"choices": ()}) for name in texts if name in shape.columns}
    return {name: None if texts[name] is None else read_value(column, texts[name]) for name, column in loose.items()}


def _same(shape: Shape, held: Any, then: dict[str, Any]) -> None:
    for name, value in then.items():
        if name in shape.columns and show_value(held[name]) != (value or ""):
            raise Conflict(f"{name} was changed since, by {held['_changed_by']}; undo that first.", code="moved")
