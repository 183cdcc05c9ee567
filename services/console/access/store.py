"""Keys of the agent's API in console_db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, insert, or_, select, update
from sqlalchemy.engine import RowMapping

from services.console.access.tables import access_keys
from services.console.people.tables import people
from shared.db import Tx

_LISTED = (
    access_keys,
    people.c.name.label("person_name"),
    people.c.handle,
    people.c.role.label("person_role"),
    people.c.disabled,
)


def _in_force(at: datetime) -> ColumnElement[bool]:
    unended = or_(access_keys.c.expires_at.is_(None), access_keys.c.expires_at > at)
    return access_keys.c.revoked_at.is_(None) & unended


async def add(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(access_keys).values(row))


async def count(tx: Tx, person_id: UUID, at: datetime) -> int:
    """How many of a person are in force."""
    mine = select(func.count()).select_from(access_keys).where(access_keys.c.person_id == person_id, _in_force(at))
    return int(await tx.value(mine))


async def listed(tx: Tx, at: datetime, kind: str | None = None, person_id: UUID | None = None) -> Sequence[RowMapping]:
    """Those in force, oldest first, with whose they are; of one kind, of one person, or all."""
    found = select(*_LISTED).join(people, people.c.id == access_keys.c.person_id).where(_in_force(at))
    if kind is not None:
        found = found.where(access_keys.c.kind == kind)
    if person_id is not None:
        found = found.where(access_keys.c.person_id == person_id)
    return await tx.rows(found.order_by(access_keys.c.created_at, access_keys.c.id))


async def by_hash(tx: Tx, token_hash: str, at: datetime) -> RowMapping | None:
    """One that is in force, with its person."""
    found = select(*_LISTED).join(people, people.c.id == access_keys.c.person_id)
    return await tx.row(found.where(access_keys.c.token_hash == token_hash, _in_force(at)))


async def one(tx: Tx, access_id: UUID) -> RowMapping | None:
    """With its person; its row is locked."""
    found = select(*_LISTED).join(people, people.c.id == access_keys.c.person_id).where(access_keys.c.id == access_id)
    return await tx.row(found.with_for_update(of=access_keys))


async def revoke(tx: Tx, access_id: UUID, by: str, at: datetime) -> int:
    """Its new version."""
    gone = update(access_keys).where(access_keys.c.id == access_id)
    gone = gone.values(revoked_at=at, revoked_by=by, version=access_keys.c.version + 1)
    return int(await tx.value(gone.returning(access_keys.c.version)))
