"""The owner adds a person and gets a one-time link with which that person sets a password."""

from uuid import UUID

from services.console.people import store
from services.console.people.domain import LINK_LIFE, Caller, check_handle, check_name, check_role, hash_token
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id, new_token


async def add_person(tx: Tx, caller: Caller, name: str, handle: str, role: str) -> str:
    """The link's token, shown once."""
    caller.require("people")
    person_id, at = new_id(), now()
    row = {"id": person_id, "handle": check_handle(handle), "name": check_name(name), "role": check_role(role)}
    if not await store.add_person(tx, {**row, "created_at": at, "created_by": caller.name}):
        raise Refused(f"{row['handle']} is taken.", code="handle")
    return await _link(tx, person_id)


async def renew_link(tx: Tx, caller: Caller, person_id: UUID) -> str:
    """A new set-password link; the older one ends."""
    caller.require("people")
    if await store.person(tx, person_id) is None:
        raise NotFound("There is no such person.")
    return await _link(tx, person_id)


async def _link(tx: Tx, person_id: UUID) -> str:
    at, token = now(), new_token()
    await store.void_links(tx, "password", person_id, at)
    row = {"token_hash": hash_token(token), "purpose": "password", "person_id": person_id}
    await store.add_link(tx, {**row, "created_at": at, "expires_at": at + LINK_LIFE})
    return token
