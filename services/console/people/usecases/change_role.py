"""The owner changes what a person may do, or shuts the person out."""

from uuid import UUID

from services.console.people import store
from services.console.people.domain import Caller, check_role
from shared.db import Tx
from shared.errors import NotFound, Refused


async def change_role(tx: Tx, caller: Caller, person_id: UUID, role: str, *, disabled: bool) -> None:
    """Ends the person's sessions, so that a lost role is lost at once. The last owner stays owner."""
    caller.require("people")
    row = await store.person(tx, person_id, lock=True)
    if row is None:
        raise NotFound("There is no such person.")
    new_role = check_role(role)
    loses = row["role"] == "owner" and (new_role != "owner" or disabled)
    if loses and await store.count_owners(tx) <= 1:
        raise Refused("The last owner stays owner; make somebody else owner first.", code="last_owner")
    await store.change_person(tx, person_id, role=new_role, disabled=disabled)
    await store.end_sessions_of(tx, person_id)
