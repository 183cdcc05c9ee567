"""A reviewer closes an item, or gives it to the others."""

from uuid import UUID

from services.console.claims import store
from services.console.people.domain import Caller
from shared.db import Tx


async def release_claim(tx: Tx, caller: Caller, item_id: UUID, tab: str = "") -> bool:
    """Whether there was something to give up. With `tab` another page of the same person keeps what it renewed."""
    return await store.release(tx, item_id, caller.id, tab)
