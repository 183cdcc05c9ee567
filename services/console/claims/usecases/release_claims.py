"""A reviewer signs out, or is signed out: nobody waits for somebody who has left."""

from uuid import UUID

from services.console.claims import store
from shared.db import Tx


async def release_claims(tx: Tx, token_hash: str) -> None:
    """Of the person that the session belongs to, while it still exists."""
    await store.release_all(tx, token_hash)


async def release_claims_of(tx: Tx, person_id: UUID) -> None:
    """Of a person whose every session ends."""
    await store.release_of(tx, person_id)
