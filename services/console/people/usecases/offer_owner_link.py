"""The operator asks for the one-time link that makes the first owner."""

from services.console.people import store
from services.console.people.domain import LINK_LIFE, hash_token
from shared.clock import now
from shared.db import Tx
from shared.ids import new_token


async def offer_owner_link(tx: Tx) -> str | None:
    """A fresh token, valid 24 h and once; older ones end. None when there is an owner already."""
    if await store.has_owner(tx):
        return None
    at, token = now(), new_token()
    await store.void_links(tx, "owner", None, at)
    await store.add_link(
        tx, {"token_hash": hash_token(token), "purpose": "owner", "created_at": at, "expires_at": at + LINK_LIFE}
    )
    return token
