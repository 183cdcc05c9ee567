"""Shares in console_db, and the feedback that can be shared."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, String, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.queue.tables import items
from services.console.sharing.tables import shares
from services.console.tables import feedback
from shared.db import Tx

SHOWN = 200


async def put(tx: Tx, row: dict[str, Any]) -> None:
    """As it is shared now, whatever became of it before."""
    fresh = insert(shares).values(row | {"taken_back_at": None, "taken_back_by": None})
    changed = {name: fresh.excluded[name] for name in (*row, "taken_back_at", "taken_back_by") if name != "record_id"}
    await tx.execute(fresh.on_conflict_do_update(index_elements=["record_id"], set_=changed))


async def held(tx: Tx, record_id: UUID) -> RowMapping | None:
    """What is shared of it now; None when nothing is. Nobody else changes it until the transaction ends."""
    found = select(shares).where(shares.c.record_id == record_id, _open()).with_for_update()
    return await tx.row(found)


async def take_back(tx: Tx, record_id: UUID, at: datetime, by: str, version: int) -> None:
    gone = {"text": None, "taken_back_at": at, "taken_back_by": by, "version": version}
    await tx.execute(update(shares).where(shares.c.record_id == record_id).values(gone))


async def shared(tx: Tx) -> Sequence[RowMapping]:
    """What the agent may read now, the newest first."""
    return await tx.rows(select(shares).where(_open()).order_by(shares.c.at.desc()).limit(SHOWN))


async def count_shared(tx: Tx) -> int:
    return int(await tx.value(select(func.count()).select_from(shares).where(_open())))


async def taken_back(tx: Tx, limit: int = 20) -> Sequence[RowMapping]:
    """What it could read once, the newest first."""
    found = select(shares).where(shares.c.taken_back_at.is_not(None))
    return await tx.rows(found.order_by(shares.c.taken_back_at.desc()).limit(limit))


async def open_feedback(tx: Tx, ids: Sequence[UUID] | None, limit: int) -> Sequence[RowMapping]:
    """Feedback that is not shared now, the newest first, with the item's title when it is about one; `ids`: only these."""
    beside = cast(items.c.item_id, String) == feedback.c.item_key
    is_shared = select(shares.c.record_id).where(shares.c.record_id == feedback.c.signal_id, _open()).exists()
    found = select(feedback, items.c.title, items.c.lang).outerjoin(items, beside).where(~is_shared)
    if ids is not None:
        found = found.where(feedback.c.signal_id.in_(ids))
    return await tx.rows(found.order_by(feedback.c.at.desc(), feedback.c.signal_id).limit(limit))


def _open() -> ColumnElement[bool]:
    return shares.c.taken_back_at.is_(None)
