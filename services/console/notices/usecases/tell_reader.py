"""A newer revision came in while somebody has the item open."""

from schemas.bridge.v1 import ItemQueued
from services.console.notices import store
from services.console.notices.domain import Notice, place_of
from shared.clock import now
from shared.db import Tx


async def tell_reader(tx: Tx, queued: ItemQueued) -> list[Notice]:
    """What was written. Whoever submitted it knows."""
    at = now()
    reader = None if queued.unchanged else await store.reader(tx, queued.item_id, at)
    if reader is None or reader["claimed_by"] == queued.submitted_by.id:
        return []
    text = f"Revision {queued.revision} of “{reader['title']}” came in while you had it open"
    found = [Notice(reader["claimed_by"], "revision", text, place_of(queued.item_id), queued.item_id)]
    await store.add(tx, found, at)
    return found
