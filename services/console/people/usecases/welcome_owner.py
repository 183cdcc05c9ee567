"""The first owner opens the one-time link and becomes a person with a password."""

from services.console.people import store
from services.console.people.domain import Caller, check_handle, check_name, hash_token
from services.console.people.passwords import Passwords, check_password
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id

GONE = "This link was used, replaced, or is older than 24 hours. For a new one: the owner’s page People, or, while there is no owner, `schleuse up --detach`."


async def check_link(tx: Tx, token: str, purpose: str) -> None:
    """NotFound when the link does not open anything (any more)."""
    row = await store.open_link(tx, hash_token(token), now())
    if row is None or row["purpose"] != purpose:
        raise NotFound(GONE, code="link")


async def welcome_owner(tx: Tx, passwords: Passwords, token: str, name: str, handle: str, password: str) -> Caller:
    """Uses the link up, in the same transaction that makes the owner."""
    name, handle = check_name(name), check_handle(handle)
    check_password(password, name, handle)
    at, token_hash = now(), hash_token(token)
    link = await store.open_link(tx, token_hash, at, lock=True)
    if link is None or link["purpose"] != "owner" or await store.has_owner(tx):
        raise NotFound(GONE, code="link")
    person_id = new_id()
    row = {"id": person_id, "handle": handle, "name": name, "role": "owner", "created_at": at, "created_by": "operator"}
    if not await store.add_person(tx, {**row, "password_hash": await passwords.hash(password)}):
        raise Refused(f"{handle} is taken.", code="handle")
    await store.use_link(tx, token_hash, at)
    return Caller(str(person_id), name, "owner")
