"""A person who knows the old password takes a new one."""

from uuid import UUID

from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import ACCOUNT_TRIES, Session, check_role
from services.console.people.passwords import Passwords, check_password
from services.console.people.usecases.count_try import count_try
from shared.clock import now
from shared.db import Database
from shared.errors import Forbidden, Unauthorized


async def change_password(
    db: Database, passwords: Passwords, issuer: Issuer, session: Session, old: str, new: str
) -> None:
    """Ends the person's other sessions, and what was begun at the other surfaces. Wrong old passwords are counted like wrong sign-ins."""
    person_id, at = UUID(session.caller.id), now()
    subject = f"own:{person_id}"
    async with db.transaction() as tx:
        await count_try(tx, {subject: ACCOUNT_TRIES}, at)
        row = await store.person(tx, person_id)
    if row is None or not await passwords.verify(old, row["password_hash"]):
        raise Forbidden("The present password is another one.", code="old")
    check_password(new, row["name"], row["handle"])
    hashed = await passwords.hash(new)
    async with db.transaction() as tx:
        row, at = await store.person(tx, person_id, lock=True), now()
        if row is None or row["disabled"]:
            raise Unauthorized("You are not signed in any more.", code="session")
        await store.forget_failures(tx, subject)
        await store.change_person(tx, person_id, password_hash=hashed)
        await store.void_links(tx, "password", person_id, at)
        await store.end_sessions_of(tx, person_id, but=session.token_hash)
        await state_person(tx, issuer, person_id, check_role(row["role"]), at)
