"""An owner changes what a person may do, or shuts the person out."""

from datetime import datetime
from uuid import UUID

from services.console.claims.usecases.release_claims import release_claims_of
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import Caller, check_role
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused


async def change_role(tx: Tx, issuer: Issuer, caller: Caller, person_id: UUID, role: str | None, *, disabled: bool | None) -> bool:  # fmt: skip
    """Ends the person's sessions everywhere, so that a lost role is lost at once. The last owner stays owner.

    Links that an owner has made end with the role: nobody comes back by an invitation of her own, or as somebody else.
    None leaves the role, or whether the person is shut out, as it is. False when there is nothing to change.
    """
    caller.require("people")
    owners = await store.lock_owners(tx)
    row = await store.person(tx, person_id, lock=True)
    if row is None:
        raise NotFound("There is no such person.")
    new_role = check_role(row["role"] if role is None else role)
    out = row["disabled"] if disabled is None else disabled
    if (new_role, out) == (row["role"], row["disabled"]):
        return False
    if owners == {person_id} and (new_role != "owner" or out):
        raise Refused("The last owner stays owner; make somebody else owner first.", code="last_owner")
    at = now()
    await store.change_person(tx, person_id, role=new_role, disabled=out, changed_at=at, changed_by=caller.name)
    await _end(tx, person_id, at, keeps_links=new_role == "owner" and not out)
    await state_person(tx, issuer, person_id, None if out else new_role, at, by=caller.name)
    return True


async def _end(tx: Tx, person_id: UUID, at: datetime, *, keeps_links: bool) -> None:
    await store.end_sessions_of(tx, person_id)
    await release_claims_of(tx, person_id)
    if not keeps_links:
        await store.void_offers(tx, person_id, at)
