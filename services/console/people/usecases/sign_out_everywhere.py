"""A person, or an owner for somebody, ends every sign-in: here, at the site and in the workspace."""

from uuid import UUID

from services.console.access.usecases.revoke_access import revoke_access_of
from services.console.claims.usecases.release_claims import release_claims_of
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store
from services.console.people.domain import Caller, check_role
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def sign_out_everywhere(tx: Tx, issuer: Issuer, caller: Caller, person_id: UUID, *, tokens: bool) -> int:
    """How many API tokens and keys of the agent's API were revoked: none unless `tokens`, for programs go on."""
    if caller.id != str(person_id):
        caller.require("people")
    row, at = await store.person(tx, person_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such person.")
    await store.end_sessions_of(tx, person_id)
    await release_claims_of(tx, person_id)
    await state_person(tx, issuer, person_id, None if row["disabled"] else check_role(row["role"]), at, by=caller.name)
    if not tokens:
        return 0
    return await store.revoke_tokens_of(tx, person_id, at) + await revoke_access_of(tx, issuer, caller, person_id)
