"""An owner makes a one-time link with which a person sets a new password."""

from uuid import UUID

from services.console.people import store
from services.console.people.domain import LINK_LIFE, Caller, hash_token
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_token


async def offer_reset(tx: Tx, caller: Caller, person_id: UUID) -> str:
    """The link's token, shown once, stored hashed, good once within 24 h; the older one ends. Until it is used nothing changes."""
    caller.require("people")
    row = await store.person(tx, person_id, lock=True)
    if row is None:
        raise NotFound("There is no such person.")
    if row["disabled"]:
        raise Refused(f"{row['name']} is shut out; let the person in first.", code="disabled")
    at, token = now(), new_token()
    await store.void_links(tx, "password", person_id, at)
    link = {"token_hash": hash_token(token), "purpose": "password", "person_id": person_id, "made_by": caller.id}
    await store.add_link(tx, {**link, "created_at": at, "expires_at": at + LINK_LIFE})
    return token
