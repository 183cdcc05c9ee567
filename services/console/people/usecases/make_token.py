"""A person makes an API token, at most as able as the person."""

from uuid import UUID

from services.console.people import store
from services.console.people.domain import ROLES, Caller, check_name, check_role, hash_token
from shared.clock import now
from shared.db import Tx
from shared.errors import Forbidden
from shared.ids import fresh_id, new_token


async def make_token(tx: Tx, caller: Caller, name: str, role: str) -> str:
    """The token, shown once and stored hashed."""
    scope = check_role(role)
    if ROLES.index(scope) < ROLES.index(caller.role):
        raise Forbidden(f"A {caller.role} cannot make a token that acts as {scope}.")
    token = "schleuse_" + new_token()
    row = {"id": fresh_id(), "token_hash": hash_token(token), "person_id": UUID(caller.id), "name": check_name(name)}
    await store.add_token(tx, {**row, "role": scope, "created_at": now()})
    return token
