"""A reviewer signs out: nobody waits for somebody who has left."""

from services.console.claims import store
from shared.db import Tx


async def release_claims(tx: Tx, token_hash: str) -> None:
    """Of the person that the session belongs to, while it still exists."""
    await store.release_all(tx, token_hash)
