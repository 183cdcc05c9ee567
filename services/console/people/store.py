"""People, invitations, links, sessions, tokens and failed sign-ins in console_db."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.engine import RowMapping

from services.console.people.domain import ABSOLUTE, FORGET_FAILURES, IDLE
from services.console.people.tables import failures, invitations, links, people, sessions, tokens
from shared.db import Tx


async def has_owner(tx: Tx) -> bool:
    return bool(await tx.value(select(func.count()).select_from(people).where(people.c.role == "owner")))


async def add_person(tx: Tx, row: dict[str, Any]) -> bool:
    """False when the handle is taken."""
    done = upsert(people).values(row).on_conflict_do_nothing(index_elements=["handle"]).returning(people.c.id)
    return await tx.value(done) is not None


async def person(tx: Tx, person_id: UUID, *, lock: bool = False) -> RowMapping | None:
    found = select(people).where(people.c.id == person_id)
    return await tx.row(found.with_for_update() if lock else found)


async def person_by_handle(tx: Tx, handle: str) -> RowMapping | None:
    return await tx.row(select(people).where(people.c.handle == handle))


async def change_person(tx: Tx, person_id: UUID, **fields: Any) -> None:
    await tx.execute(update(people).where(people.c.id == person_id).values(**fields))


async def lock_owners(tx: Tx) -> frozenset[UUID]:
    """Owners that can sign in; their rows are locked, in one order, so that two removals cannot cross."""
    found = select(people.c.id).where(people.c.role == "owner", ~people.c.disabled, people.c.password_hash.is_not(None))
    return frozenset(row["id"] for row in await tx.rows(found.order_by(people.c.id).with_for_update()))


async def add_invitation(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(invitations).values(row))


async def open_invitation(tx: Tx, token_hash: str, at: datetime, *, lock: bool = False) -> RowMapping | None:
    found = select(invitations).where(invitations.c.token_hash == token_hash, _is_open(at))
    return await tx.row(found.with_for_update() if lock else found)


async def use_invitation(tx: Tx, invitation_id: UUID, at: datetime) -> None:
    await tx.execute(update(invitations).where(invitations.c.id == invitation_id).values(used_at=at))


async def revoke_invitation(tx: Tx, invitation_id: UUID, at: datetime) -> bool:
    """False when it is not open any more."""
    mine = update(invitations).where(invitations.c.id == invitation_id, _is_open(at))
    return bool(await tx.execute(mine.values(revoked_at=at)))


def _is_open(at: datetime) -> ColumnElement[bool]:
    return invitations.c.used_at.is_(None) & invitations.c.revoked_at.is_(None) & (invitations.c.expires_at > at)


async def add_link(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(links).values(row))


async def void_links(tx: Tx, purpose: str, person_id: UUID | None, at: datetime) -> None:
    """A new link ends the older ones of its purpose."""
    mine = links.c.person_id.is_(None) if person_id is None else links.c.person_id == person_id
    await tx.execute(
        update(links).where(links.c.purpose == purpose, mine, links.c.used_at.is_(None)).values(used_at=at)
    )


async def void_offers(tx: Tx, made_by: UUID, at: datetime) -> None:
    """What a person has made for others and nobody has used: invitations, and links for new passwords."""
    theirs, mine = invitations.c.made_by == str(made_by), links.c.made_by == str(made_by)
    await tx.execute(update(invitations).where(theirs, _is_open(at)).values(revoked_at=at))
    await tx.execute(update(links).where(mine, links.c.used_at.is_(None)).values(used_at=at))


async def open_link(tx: Tx, token_hash: str, at: datetime, *, lock: bool = False) -> RowMapping | None:
    found = select(links).where(links.c.token_hash == token_hash, links.c.used_at.is_(None), links.c.expires_at > at)
    return await tx.row(found.with_for_update() if lock else found)


async def use_link(tx: Tx, token_hash: str, at: datetime) -> None:
    await tx.execute(update(links).where(links.c.token_hash == token_hash).values(used_at=at))


async def add_session(tx: Tx, token_hash: str, person_id: UUID, browser: str, at: datetime) -> None:
    row = {"token_hash": token_hash, "person_id": person_id, "browser": browser}
    await tx.execute(insert(sessions).values(**row, created_at=at, seen_at=at))
    await tx.execute(delete(sessions).where(sessions.c.created_at < at - ABSOLUTE))


async def session(tx: Tx, token_hash: str, at: datetime) -> RowMapping | None:
    """The session and its person, if it is neither idle for too long, too old, nor of a disabled person."""
    return await tx.row(
        select(
            sessions.c.created_at,
            sessions.c.seen_at,
            *(people.c[name] for name in ("id", "name", "role", "single_keys", "language")),
        )
        .join(people, people.c.id == sessions.c.person_id)
        .where(
            sessions.c.token_hash == token_hash,
            sessions.c.seen_at > at - IDLE,
            sessions.c.created_at > at - ABSOLUTE,
            ~people.c.disabled,
        )
    )


async def touch_session(tx: Tx, token_hash: str, at: datetime) -> None:
    await tx.execute(update(sessions).where(sessions.c.token_hash == token_hash).values(seen_at=at))


async def end_session(tx: Tx, token_hash: str) -> bool:
    """False when it was over already."""
    return bool(await tx.execute(delete(sessions).where(sessions.c.token_hash == token_hash)))


async def end_sessions_of(tx: Tx, person_id: UUID, but: str = "") -> None:
    """All of them, `but` the one with this token hash."""
    await tx.execute(delete(sessions).where(sessions.c.person_id == person_id, sessions.c.token_hash != but))


async def forget_old_failures(tx: Tx, at: datetime) -> None:
    await tx.execute(delete(failures).where(failures.c.failed_at < at - FORGET_FAILURES))


async def count_failure(tx: Tx, subject: str, at: datetime) -> tuple[int, datetime | None]:
    """One more try: the number in a row, and until when the door was shut already. Locks the subject."""
    row = upsert(failures).values(subject=subject, failures=1, failed_at=at)
    more = row.on_conflict_do_update(
        index_elements=["subject"], set_={"failures": failures.c.failures + 1, "failed_at": at}
    )
    found = await tx.row(more.returning(failures.c.failures, failures.c.open_at))
    assert found is not None
    return int(found["failures"]), found["open_at"]


async def take_back_failure(tx: Tx, subject: str, at: datetime) -> None:
    """The try at this time was none after all: it counts no more, and if it was what shut the door, the door is open."""
    opened = case((failures.c.failed_at == at, None), else_=failures.c.open_at)
    less = {"failures": failures.c.failures - 1, "open_at": opened}
    await tx.execute(update(failures).where(failures.c.subject == subject).values(less))


async def shut_until(tx: Tx, subject: str, open_at: datetime) -> None:
    await tx.execute(update(failures).where(failures.c.subject == subject).values(open_at=open_at))


async def forget_failures(tx: Tx, subject: str) -> None:
    await tx.execute(delete(failures).where(failures.c.subject == subject))


async def add_token(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(tokens).values(row))


async def token(tx: Tx, token_hash: str) -> RowMapping | None:
    return await tx.row(
        select(tokens.c.id, tokens.c.role.label("scope"), people.c.id.label("person_id"), people.c.name, people.c.role)
        .join(people, people.c.id == tokens.c.person_id)
        .where(tokens.c.token_hash == token_hash, tokens.c.revoked_at.is_(None), ~people.c.disabled)
    )


async def use_token(tx: Tx, token_id: UUID, at: datetime) -> None:
    await tx.execute(update(tokens).where(tokens.c.id == token_id).values(used_at=at))


async def revoke_token(tx: Tx, token_id: UUID, person_id: UUID, at: datetime) -> None:
    mine = (tokens.c.id == token_id) & (tokens.c.person_id == person_id)
    await tx.execute(update(tokens).where(mine).values(revoked_at=at))


async def revoke_tokens_of(tx: Tx, person_id: UUID, at: datetime) -> int:
    """How many were in force."""
    mine = update(tokens).where(tokens.c.person_id == person_id, tokens.c.revoked_at.is_(None))
    return await tx.execute(mine.values(revoked_at=at))
