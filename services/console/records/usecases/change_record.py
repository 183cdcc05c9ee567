"""Other values for one row. Two people at one cell: the second is told what the first wrote."""

from collections.abc import Mapping
from typing import Any

from services.console.apps.domain import InstalledApp
from services.console.records import store
from services.console.records.domain import How, Shape, Who, by_whom, check_key, shape_of
from services.console.records.values import Value, read_value, show_value
from shared.db import Tx
from shared.errors import Conflict, Refused


async def change_record(
    tx: Tx,
    app: InstalledApp,
    table: str,
    key: str,
    values: Mapping[str, str | None],
    by: Who,
    how: How,
    was: Mapping[str, str] | None = None,
    version: int | None = None,
) -> str:
    """The row's key afterwards. `values`: texts by column. `was`: what the person saw in those columns; Conflict when it is not that any more.

    `version`: of the row that the person saw; Conflict when it was changed since in a column where the two differ.
    NotFound when the row is gone; Refused for what does not fit.
    """
    shape, whose = shape_of(app, table), by_whom(by, how)
    if shape.numbered and "id" in values:
        raise Refused("id is the number that the console gave this row; it stays.", code="value")
    columns = {name: shape.column(name) for name in values}
    needed = {
        name: each.model_copy(update={"required": each.required or name in shape.key}) for name, each in columns.items()
    }
    typed = {name: read_value(column, values[name] or "") for name, column in needed.items()}
    held = await store.get(tx, shape, key, lock=True)
    check_key(shape, {**held, **typed})
    _compare(shape, held, was or {}, values)
    _compare_row(held, version, typed)
    return await store.change(tx, shape, held, typed, whose)


def _compare(shape: Shape, held: Mapping[Any, Any], was: Mapping[str, str], values: Mapping[str, str | None]) -> None:
    for name, seen in was.items():
        shape.column(name)
        is_now = show_value(held[name])
        if is_now != seen and is_now != (values.get(name) or ""):
            shown = f"“{is_now[:200]}”" if is_now else "empty"
            raise Conflict(
                f"{held['_changed_by']} was quicker: {name} is {shown} now. Yours was not kept; look, and change it again if you want to.",
                code="moved",
            )


def _compare_row(held: Mapping[Any, Any], version: int | None, typed: Mapping[str, Value]) -> None:
    if version is None or held["_version"] == version:
        return
    differs = [name for name, value in typed.items() if held[name] != value]
    if differs:
        raise Conflict(
            f"{held['_changed_by']} changed this row meanwhile; nothing of yours was kept yet. It differs in {', '.join(differs[:12])}.",
            code="moved",
        )
