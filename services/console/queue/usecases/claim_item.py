"""A reviewer has an item open. A claim is a courtesy with a lease, not a lock: the decision itself is what is guarded."""

from uuid import UUID

from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.domain import LEASE
from shared.clock import now
from shared.db import Tx


async def claim_item(tx: Tx, caller: Caller, item_id: UUID) -> bool:
    """Take or renew the lease of 15 minutes; False when somebody else holds it or nothing waits for a decision."""
    caller.require("decide")
    at = now()
    return await store.claim(tx, item_id, caller.id, caller.name, at, at + LEASE)


async def release_item(tx: Tx, caller: Caller, item_id: UUID) -> None:
    await store.release(tx, item_id, caller.id)
