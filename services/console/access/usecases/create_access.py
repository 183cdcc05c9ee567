"""A person, or the operator for somebody, makes a key of the agent's API; the agent learns of it as a signed statement."""

from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.console.v1 import AccessStated
from services.console.access import store
from services.console.access.domain import MOST_KEYS, PREFIX, Wanted, check_life, check_scope
from services.console.delegations.usecases.issue_delegation import issue_delegation
from services.console.identity.issuer import Issuer
from services.console.identity.store import sessions_from
from services.console.identity.usecases.state_standing import state_person
from services.console.people import store as people
from services.console.people.domain import Caller, check_name, check_role, hash_token
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import fresh_id, new_token


async def create_access(tx: Tx, issuer: Issuer, caller: Caller, person_id: UUID, wanted: Wanted) -> tuple[UUID, str]:
    """(id, the key: shown once, and stored hashed). The agent is told the person's standing with it, so that it knows whom it opens for."""
    if caller.id != str(person_id) and caller.via != "operator":
        raise NotFound("There is no such person.")
    person, at = await people.person(tx, person_id, lock=True), now()
    if person is None:
        raise NotFound("There is no such person.")
    if person["disabled"]:
        raise Refused(f"{person['name']} is shut out; `schleuse people enable` lets them in again.", code="disabled")
    if await store.count(tx, person_id, at) >= MOST_KEYS:
        raise Refused(f"{person['name']} has {MOST_KEYS} keys already; revoke some first.", code="too_many")
    role, key = check_role(person["role"]), PREFIX[wanted.kind] + new_token()
    row = _row(wanted, key, person, caller, at) | {"role": check_scope(role, check_role(wanted.role or role))}
    await store.add(tx, row)
    since = await sessions_from(tx, "agent", issuer.subject("agent", person_id))
    await state_person(tx, issuer, person_id, role, at, since or person["created_at"], by=caller.name)
    state_access(tx, issuer, row | {"person_name": person["name"]}, caller.name)
    await issue_delegation(tx, issuer, person_id, at)
    return row["id"], key


def _row(wanted: Wanted, key: str, person: Any, caller: Caller, at: datetime) -> dict[str, Any]:
    life = check_life(wanted)
    return {
        "id": fresh_id(),
        "person_id": person["id"],
        "kind": wanted.kind,
        "name": check_name(wanted.name),
        "token_hash": hash_token(key),
        "made_by": caller.name,
        "created_at": at,
        "expires_at": None if life is None else at + life,
        "version": 1,
    }


def state_access(tx: Tx, issuer: Issuer, row: Any, by: str, *, revoked: bool = False) -> None:
    """Tell the agent what is true of a key from now on."""
    signed = issuer.access(
        access_id=row["id"],
        kind=row["kind"],
        subject=issuer.subject("agent", row["person_id"]),
        person_name=row["person_name"],
        name=row["name"],
        role=row["role"],
        token_hash=row["token_hash"],
        made_by=row["made_by"],
        issued_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked=revoked,
        version=row["version"],
    )
    tx.stage("access.stated", AccessStated(access=signed), key=f"access:{row['id']}", version=row["version"], actor=by)
