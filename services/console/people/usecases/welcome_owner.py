"""The first owner opens the one-time link and becomes a person with a password."""

from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import GONE, hash_token
from services.console.people.usecases.prepare_newcomer import Newcomer
from services.console.people.usecases.sign_in import start_session
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id


async def welcome_owner(tx: Tx, issuer: Issuer, token: str, owner: Newcomer, browser: str) -> str:
    """The new session's token. Uses the link up, in the same transaction that makes the owner."""
    at, token_hash = now(), hash_token(token)
    link = await store.open_link(tx, token_hash, at, lock=True)
    if link is None or link["purpose"] != "owner" or await store.has_owner(tx):
        raise NotFound(GONE, code="link")
    person_id = new_id()
    row = {"id": person_id, "handle": owner.handle, "name": owner.name, "role": "owner", "created_at": at}
    if not await store.add_person(tx, {**row, "created_by": "operator", "password_hash": owner.password_hash}):
        raise Refused(f"{owner.handle} is taken.", code="handle")
    await store.use_link(tx, token_hash, at)
    await state_person(tx, issuer, person_id, "owner", at)
    return await start_session(tx, person_id, browser)
