"""A person sets a password with a one-time link."""

from services.console.people import store
from services.console.people.domain import hash_token
from services.console.people.passwords import Passwords, check_password
from services.console.people.usecases.welcome_owner import GONE
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def set_password(tx: Tx, passwords: Passwords, token: str, password: str) -> None:
    """Uses the link up and ends the person's sessions."""
    at, token_hash = now(), hash_token(token)
    link = await store.open_link(tx, token_hash, at, lock=True)
    row = await store.person(tx, link["person_id"]) if link and link["person_id"] else None
    if link is None or row is None or link["purpose"] != "password":
        raise NotFound(GONE, code="link")
    check_password(password, row["name"], row["handle"])
    await store.change_person(tx, row["id"], password_hash=await passwords.hash(password))
    await store.use_link(tx, token_hash, at)
    await store.end_sessions_of(tx, row["id"])
