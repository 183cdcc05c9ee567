"""Statements on notifications. Every one names the owner, though row security would hold it to that anyway."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.notifications.domain import Notification
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_FOUND = """
SELECT n.notification_id, n.title, n.text, n.at, n.due_at, n.task_id, n.link, n.read_at, n.shown_at, coalesce(t.sources <> '[]', false) AS from_outside
  FROM core.notifications n LEFT JOIN core.tasks t ON (t.owner_kind, t.owner_id, t.task_id) = (n.owner_kind, n.owner_id, n.task_id)
 WHERE n.owner_kind = $1 AND n.owner_id = $2"""
_ADD = """
INSERT INTO core.notifications (owner_kind, owner_id, notification_id, task_id, title, text, link, due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING"""
_LIST = f"{_FOUND} ORDER BY n.at DESC, n.notification_id DESC LIMIT $3"
_UNREAD = f"""
SELECT notification_id, shown_at IS NOT NULL AS shown FROM core.notifications
 WHERE {_MINE} AND read_at IS NULL ORDER BY at, notification_id"""  # noqa: S608
_SOME = f"{_FOUND} AND n.notification_id = ANY ($3) ORDER BY n.at, n.notification_id"
_READ = f"UPDATE core.notifications SET read_at = coalesce(read_at, $4) WHERE {_MINE} AND notification_id = $3"  # noqa: S608
_READ_ALL = f"UPDATE core.notifications SET read_at = $3 WHERE {_MINE} AND read_at IS NULL"  # noqa: S608
_SHOWN = (
    f"UPDATE core.notifications SET shown_at = $4 WHERE {_MINE} AND notification_id = ANY ($3) AND shown_at IS NULL"  # noqa: S608
)
_LEFT_OUT = f"SELECT count FROM core.notifications_left_out WHERE {_MINE}"  # noqa: S608
_COUNTED = f"DELETE FROM core.notifications_left_out WHERE {_MINE}"  # noqa: S608


async def add(tx: Tx, owner: Owner, new: Notification) -> None:
    """One of that id is there once, whoever adds it again."""
    await tx.raw.execute(
        _ADD, owner.kind, owner.id, new.notification_id, new.task_id, new.title, new.text, new.link, new.due_at
    )


async def newest(tx: Tx, owner: Owner, limit: int) -> list[Notification]:
    return [_notification(row) for row in await tx.raw.fetch(_LIST, owner.kind, owner.id, limit)]


async def unread(tx: Tx, owner: Owner) -> list[tuple[UUID, bool]]:
    """Oldest first; whether a page has shown it."""
    rows = await tx.raw.fetch(_UNREAD, owner.kind, owner.id)
    return [(row["notification_id"], row["shown"]) for row in rows]


async def some(tx: Tx, owner: Owner, ids: Sequence[UUID]) -> list[Notification]:
    return [_notification(row) for row in await tx.raw.fetch(_SOME, owner.kind, owner.id, list(ids))]


async def read(tx: Tx, owner: Owner, notification_id: UUID, at: datetime) -> bool:
    """False when the owner has none of that id."""
    return (await tx.raw.execute(_READ, owner.kind, owner.id, notification_id, at)) != "UPDATE 0"


async def read_all(tx: Tx, owner: Owner, at: datetime) -> None:
    await tx.raw.execute(_READ_ALL, owner.kind, owner.id, at)
    await tx.raw.execute(_COUNTED, owner.kind, owner.id)


async def shown(tx: Tx, owner: Owner, ids: Sequence[UUID], at: datetime) -> None:
    await tx.raw.execute(_SHOWN, owner.kind, owner.id, list(ids), at)


async def left_out(tx: Tx, owner: Owner) -> int:
    return int(await tx.raw.fetchval(_LEFT_OUT, owner.kind, owner.id) or 0)


def _notification(row: Any) -> Notification:
    return Notification(**dict(row))
