"""A key opens nothing any more: taken back by its person or by the operator, or with all the keys of a person."""

from uuid import UUID

from services.console.access import store
from services.console.access.usecases.create_access import state_access
from services.console.identity.issuer import Issuer
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def revoke_access(tx: Tx, issuer: Issuer, caller: Caller, access_id: UUID) -> bool:
    """False when it was revoked before. NotFound for one that is another person's (rule 24)."""
    row = await store.one(tx, access_id)
    if row is None or (caller.id != str(row["person_id"]) and caller.via != "operator"):
        raise NotFound("There is no such key.", code="key")
    if row["revoked_at"] is not None:
        return False
    version = await store.revoke(tx, access_id, caller.name, now())
    state_access(tx, issuer, {**row, "version": version}, caller.name, revoked=True)
    return True


async def revoke_access_of(tx: Tx, issuer: Issuer, caller: Caller, person_id: UUID) -> int:
    """All that are in force: how many. Whoever calls has asked whether the caller may."""
    rows = await store.listed(tx, now(), person_id=person_id)
    for row in rows:
        version = await store.revoke(tx, row["id"], caller.name, now())
        state_access(tx, issuer, {**row, "version": version}, caller.name, revoked=True)
    return len(rows)
