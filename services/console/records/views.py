"""Records, read: pages of a table by filter and order, one row, its history."""

from collections.abc import Sequence

from sqlalchemy import RowMapping, exists, select

from services.console.records.domain import Shape
from services.console.records.tables import record_history
from shared.db import Tx

HISTORY = 100


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
