"""An owner invites somebody with a role, by a link that works once within 24 hours; or takes the invitation back."""

from uuid import UUID

from services.console.people import store
from services.console.people.domain import LINK_LIFE, Caller, check_handle, check_name, check_role, hash_token
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import fresh_id, new_token


async def invite_person(tx: Tx, caller: Caller, role: str, name: str = "", handle: str = "") -> str:
    """The link's token, shown once and stored hashed. `name` and `handle` are proposals; the invited person may change them."""
    caller.require("people")
    role, name, handle = check_role(role), name and check_name(name), handle and check_handle(handle)
    if handle and await store.person_by_handle(tx, handle) is not None:
        raise Refused(f"{handle} is taken.", code="handle")
    at, token = now(), new_token()
    row = {"id": fresh_id(), "token_hash": hash_token(token), "role": role, "name": name, "handle": handle}
    await store.add_invitation(
        tx, {**row, "created_at": at, "created_by": caller.name, "made_by": caller.id, "expires_at": at + LINK_LIFE}
    )
    return token


async def revoke_invitation(tx: Tx, caller: Caller, invitation_id: UUID) -> None:
    """NotFound when it is not open any more."""
    caller.require("people")
    if not await store.revoke_invitation(tx, invitation_id, now()):
        raise NotFound("This invitation is not open any more: it was used, revoked, or is older than 24 hours.")
