"""What the surfaces were told, and how many tokens a sign-in has had, in console_db."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import case, exists, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.identity.domain import MINT_WINDOW, Audience
from services.console.people.tables import people, sessions, standings
from shared.db import Tx


async def next_standing(
    tx: Tx, audience: Audience, subject: UUID, person_id: UUID | None, role: str | None, sessions_from: datetime, at: datetime
) -> int:  # fmt: skip
    """The number of this standing of the subject; locks the subject."""
    said = {"role": role, "sessions_from": sessions_from, "stated_at": at}
    row = insert(standings).values(audience=audience, subject=subject, person_id=person_id, version=1, **said)
    newer = row.on_conflict_do_update(
        index_elements=["audience", "subject"], set_={**said, "version": standings.c.version + 1}
    )
    return int(await tx.value(newer.returning(standings.c.version)))


async def is_told(tx: Tx, person_id: UUID) -> bool:
    return bool(await tx.value(select(exists().where(standings.c.person_id == person_id))))


async def untold_people(tx: Tx, limit: int) -> Sequence[RowMapping]:
    """People who could sign in and whom no surface was told of. Their rows are locked; nobody is left out."""
    told = exists().where(standings.c.person_id == people.c.id)
    able = ~people.c.disabled & people.c.password_hash.is_not(None)
    found = (
        select(people.c.id, people.c.role, people.c.created_at).where(able, ~told).order_by(people.c.id).limit(limit)
    )
    return await tx.rows(found.with_for_update(key_share=True))


async def sessions_from(tx: Tx, audience: Audience, subject: UUID) -> datetime | None:
    """Since when sign-ins of this subject count there."""
    found: datetime | None = await tx.value(
        select(standings.c.sessions_from).where(standings.c.audience == audience, standings.c.subject == subject)
    )
    return found


async def count_mint(tx: Tx, session_hash: str, at: datetime) -> RowMapping | None:
    """One more token for this sign-in: how many in the window, and the person as of now. None when it is over."""
    in_window = sessions.c.minted_from > at - MINT_WINDOW
    return await tx.row(
        update(sessions)
        .where(sessions.c.token_hash == session_hash, people.c.id == sessions.c.person_id, ~people.c.disabled)
        .values(
            minted=case((in_window, sessions.c.minted + 1), else_=1),
            minted_from=case((in_window, sessions.c.minted_from), else_=at),
        )
        .returning(sessions.c.minted, people.c.id, people.c.name, people.c.role)
    )
