"""New rows of an app's table. All of them, or none."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from services.console.apps.domain import InstalledApp
from services.console.records import store
from services.console.records.domain import NUMBER, How, Shape, Who, by_whom, check_key, shape_of
from services.console.records.values import Value, read_value
from shared.db import Tx
from shared.errors import Refused


async def add_records(
    tx: Tx,
    app: InstalledApp,
    table: str,
    rows: Sequence[Mapping[str, str | None]],
    by: Who,
    how: How,
    batch: UUID | None = None,
) -> list[str]:
    """Their keys, in order. `rows`: texts by column; a column that is not named is NULL. Refused, naming row and column, for what does not fit."""
    shape, whose = shape_of(app, table), by_whom(by, how, batch)
    typed = [
        read_row(shape, row, f"row {number}: " if len(rows) > 1 else "") for number, row in enumerate(rows, start=1)
    ]
    return await store.add(tx, shape, typed, whose) if typed else []


def read_row(shape: Shape, row: Mapping[str, str | None], where: str = "") -> dict[str, Value]:
    """A whole new row; the number that the console gives it may be left out."""
    try:
        for name in row:
            shape.column(name)
        given = [each for each in shape.columns.values() if each is not NUMBER or row.get(each.name)]
        needed = {
            each.name: each.model_copy(update={"required": each.required or each.name in shape.key}) for each in given
        }
        typed = {name: read_value(column, row.get(name) or "") for name, column in needed.items()}
        check_key(shape, typed)
    except Refused as error:
        raise Refused(where + error.message, code=error.code) from None
    return typed
