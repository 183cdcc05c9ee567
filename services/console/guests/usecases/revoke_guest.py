"""An owner or admin takes an invitation to the site back; what was begun with it ends."""

from uuid import UUID

from services.console.guests import store
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_guest
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def revoke_guest(tx: Tx, issuer: Issuer, caller: Caller, subject: UUID) -> None:
    """NotFound when it is not open any more."""
    caller.require("guests")
    at = now()
    if not await store.revoke_guest(tx, subject, at, caller.name):
        raise NotFound("This invitation is not open any more: it was revoked or has expired.")
    await state_guest(tx, issuer, subject, at, by=caller.name)
