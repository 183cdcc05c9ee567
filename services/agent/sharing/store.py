"""Shared records, in agent_db. The newest word about a record counts, in whichever order they come."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from schemas.console.v1 import RecordShared
from services.agent.sharing.tables import shared_records as records
from shared.db import Tx

_WORD = ("kind", "title", "text", "source", "shared_by", "at", "version")


async def put(tx: Tx, record: RecordShared) -> None:
    await _put(
        tx, record.record_id, {name: getattr(record, name) for name in _WORD} | {"shared_by": record.shared_by.name}
    )


async def take_back(tx: Tx, record_id: UUID, at: datetime, version: int) -> None:
    """Nothing of it is kept but that it was."""
    nothing: dict[str, object] = dict.fromkeys(("kind", "title", "source", "shared_by"), "")
    await _put(tx, record_id, nothing | {"text": None, "at": at, "version": version})


async def _put(tx: Tx, record_id: UUID, word: dict[str, object]) -> None:
    fresh = insert(records).values(word | {"record_id": record_id})
    changed = {name: fresh.excluded[name] for name in _WORD}
    newer = records.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["record_id"], set_=changed, where=newer))


async def listed(tx: Tx, limit: int) -> Sequence[RowMapping]:
    """What may be read, the newest first: record_id, kind, title, source, shared_by, at, and how long its text is."""
    columns = (records.c[name] for name in ("record_id", "kind", "title", "source", "shared_by", "at"))
    found = select(*columns, func.char_length(records.c.text).label("characters"))
    return await tx.rows(found.where(records.c.text.is_not(None)).order_by(records.c.at.desc()).limit(limit))


async def readable(tx: Tx, ids: Sequence[UUID], words: str, kind: str, limit: int) -> Sequence[RowMapping]:
    """With their texts, the newest first: those of `ids`, or, when there are none, those whose title or text has `words`."""
    found = select(records).where(records.c.text.is_not(None))
    if ids:
        found = found.where(records.c.record_id.in_(ids))
    if kind:
        found = found.where(records.c.kind == kind)
    if words:
        has = (func.strpos(func.lower(records.c[name]), words.lower()) > 0 for name in ("title", "text"))
        found = found.where(or_(*has))
    return await tx.rows(found.order_by(records.c.at.desc()).limit(limit))
