"""Invitations to the site in console_db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update
from sqlalchemy.engine import RowMapping

from services.console.guests.tables import guests
from shared.db import Tx

SHOWN = 500
"""Invitations that a list has at most, the newest first."""


async def add_guest(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(guests).values(row))


async def revoke_guest(tx: Tx, subject: UUID, at: datetime, by: str) -> bool:
    """False when it is not open any more."""
    open_one = (guests.c.subject == subject) & guests.c.revoked_at.is_(None) & (guests.c.until > at)
    return bool(await tx.execute(update(guests).where(open_one).values(revoked_at=at, revoked_by=by)))


async def list_guests(tx: Tx) -> Sequence[RowMapping]:
    return await tx.rows(select(guests).order_by(guests.c.created_at.desc()).limit(SHOWN))
