"""Somebody who was invited becomes a person of the workplace, and is signed in."""

from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import GONE, check_role, hash_token
from services.console.people.usecases.prepare_newcomer import Newcomer
from services.console.people.usecases.sign_in import start_session
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id


async def accept_invitation(tx: Tx, issuer: Issuer, token: str, newcomer: Newcomer, browser: str) -> str:
    """The new session's token. Uses the invitation up, in the same transaction that makes the person."""
    at = now()
    invitation = await store.open_invitation(tx, hash_token(token), at, lock=True)
    if invitation is None:
        raise NotFound(GONE, code="link")
    person_id, role = new_id(), check_role(invitation["role"])
    row = {"id": person_id, "handle": newcomer.handle, "name": newcomer.name, "role": role, "created_at": at}
    by = {"created_by": invitation["created_by"], "password_hash": newcomer.password_hash}
    if not await store.add_person(tx, row | by):
        raise Refused(f"{newcomer.handle} is taken; choose another name to sign in with.", code="handle")
    await store.use_invitation(tx, invitation["id"], at)
    await state_person(tx, issuer, person_id, role, at)
    return await start_session(tx, person_id, browser)
