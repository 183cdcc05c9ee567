"""Delegations in console_db, and who needs one."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.access.tables import access_keys
from services.console.connectors.tables import connectors
from services.console.delegations.domain import RENEW
from services.console.delegations.tables import delegations
from services.console.people.domain import ABSOLUTE, IDLE
from services.console.people.tables import people, sessions
from shared.db import Tx


async def declared(tx: Tx) -> Sequence[tuple[str, str]]:
    """(name, kind) of every connector in force."""
    return [(row["name"], row["kind"]) for row in await tx.rows(select(connectors.c.name, connectors.c.kind))]


async def held(tx: Tx, person_id: UUID) -> RowMapping | None:
    return await tx.row(select(delegations).where(delegations.c.person_id == person_id))


async def put(tx: Tx, person_id: UUID, operations_hash: str, issued_at: datetime, expires_at: datetime) -> int:
    """Its number; locks the person's."""
    said = {"operations_hash": operations_hash, "issued_at": issued_at, "expires_at": expires_at}
    row = insert(delegations).values(person_id=person_id, version=1, **said)
    more = row.on_conflict_do_update(index_elements=["person_id"], set_={**said, "version": delegations.c.version + 1})
    return int(await tx.value(more.returning(delegations.c.version)))


async def due(tx: Tx, operations_hash: str, at: datetime, limit: int) -> Sequence[UUID]:
    """People who are signed in or have a key, and whose delegation is missing, ends soon, or says something else. Their rows are locked
    against another instance; nobody is left out, as the next look may be a minute away."""
    signed_in = exists().where(
        sessions.c.person_id == people.c.id, sessions.c.seen_at > at - IDLE, sessions.c.created_at > at - ABSOLUTE
    )
    unended = or_(access_keys.c.expires_at.is_(None), access_keys.c.expires_at > at)
    has_key = exists().where(access_keys.c.person_id == people.c.id, access_keys.c.revoked_at.is_(None), unended)
    good = exists().where(
        delegations.c.person_id == people.c.id,
        delegations.c.expires_at > at + RENEW,
        delegations.c.operations_hash == operations_hash,
    )
    found = select(people.c.id).where(~people.c.disabled, or_(signed_in, has_key), ~good).order_by(people.c.id)
    return [row["id"] for row in await tx.rows(found.limit(limit).with_for_update(key_share=True))]
