"""A person sets a new password with a one-time link."""

from uuid import UUID

from sqlalchemy.engine import RowMapping

from services.console.claims.usecases.release_claims import release_claims_of
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import GONE, check_role, hash_token
from services.console.people.passwords import Passwords, check_password
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import NotFound


async def set_password(db: Database, passwords: Passwords, issuer: Issuer, token: str, password: str) -> UUID:
    """The person. Uses the link up, ends the person's sessions everywhere, and opens an account that was shut by wrong tries."""
    async with db.reading() as tx:
        row = await _whose(tx, token)
    check_password(password, row["name"], row["handle"])
    hashed = await passwords.hash(password)
    async with db.transaction() as tx:
        row, at = await _whose(tx, token, lock=True), now()
        await store.change_person(tx, row["id"], password_hash=hashed)
        await store.use_link(tx, hash_token(token), at)
        await store.end_sessions_of(tx, row["id"])
        await release_claims_of(tx, row["id"])
        await store.forget_failures(tx, f"account:{row['handle']}")
        await state_person(tx, issuer, row["id"], check_role(row["role"]), at)
    person_id: UUID = row["id"]
    return person_id


async def _whose(tx: Tx, token: str, *, lock: bool = False) -> RowMapping:
    """NotFound for a link that is over, of another purpose, or of somebody who is shut out."""
    link = await store.open_link(tx, hash_token(token), now(), lock=lock)
    if link is None or link["purpose"] != "password":
        raise NotFound(GONE, code="link")
    row = await store.person(tx, link["person_id"], lock=lock)
    if row is None or row["disabled"]:
        raise NotFound(GONE, code="link")
    return row
