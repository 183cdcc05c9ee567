"""An event could not be handled here: owners and admins are told, once until they have seen it."""

from services.console.notices import store
from services.console.notices.domain import Notice
from shared.clock import now
from shared.db import Tx


async def tell_parked(tx: Tx, name: str, reason: str) -> list[Notice]:
    """What was written, in the transaction that parks the event."""
    text = f"Events are parked; the first since you looked is {name}: {reason}"[:500]
    found = [Notice(each, "parked", text, "/parked") for each in await store.keepers(tx)]
    if found:
        await store.add(tx, found, now())
    return found
