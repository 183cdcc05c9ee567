"""Lists of people, open invitations, sessions and tokens, for pages and the operator."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.engine import RowMapping

from services.console.people.domain import ABSOLUTE, IDLE
from services.console.people.tables import invitations, people, sessions, tokens
from shared.db import Tx


async def list_people(tx: Tx, at: datetime) -> Sequence[RowMapping]:
    """Everybody, oldest first, with the number of `sign_ins` that are open and of `tokens` in force."""
    open_ones = select(func.count()).where(sessions.c.person_id == people.c.id, _is_alive(at)).scalar_subquery()
    in_force = select(func.count()).where(tokens.c.person_id == people.c.id, tokens.c.revoked_at.is_(None))
    found = select(people, open_ones.label("sign_ins"), in_force.scalar_subquery().label("tokens"))
    return await tx.rows(found.order_by(people.c.created_at))


async def find_person(tx: Tx, handle: str) -> UUID | None:
    found: UUID | None = await tx.value(select(people.c.id).where(people.c.handle == handle.strip().lower()))
    return found


async def open_invitations(tx: Tx, at: datetime) -> Sequence[RowMapping]:
    waiting = invitations.c.used_at.is_(None) & invitations.c.revoked_at.is_(None) & (invitations.c.expires_at > at)
    return await tx.rows(select(invitations).where(waiting).order_by(invitations.c.created_at.desc()))


async def sessions_of(tx: Tx, person_id: UUID, at: datetime) -> Sequence[RowMapping]:
    """Where a person is signed in, the newest first."""
    found = select(sessions).where(sessions.c.person_id == person_id, _is_alive(at))
    return await tx.rows(found.order_by(sessions.c.created_at.desc()))


async def tokens_of(tx: Tx, person_id: UUID) -> Sequence[RowMapping]:
    """API tokens in force, oldest first."""
    found = select(tokens).where(tokens.c.person_id == person_id, tokens.c.revoked_at.is_(None))
    return await tx.rows(found.order_by(tokens.c.created_at))


async def alive(tx: Tx, session_hashes: Iterable[str], at: datetime) -> frozenset[str]:
    """Those of these sign-ins that are not over."""
    found = (
        select(sessions.c.token_hash)
        .join(people, people.c.id == sessions.c.person_id)
        .where(sessions.c.token_hash.in_(list(session_hashes)), _is_alive(at), ~people.c.disabled)
    )
    return frozenset(row["token_hash"] for row in await tx.rows(found))


def _is_alive(at: datetime) -> ColumnElement[bool]:
    return (sessions.c.seen_at > at - IDLE) & (sessions.c.created_at > at - ABSOLUTE)
