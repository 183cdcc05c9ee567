"""The copy of the call audit is no chain any more: owners and admins are told."""

from services.console.notices import store
from services.console.notices.domain import Notice
from shared.clock import now
from shared.db import Tx


async def tell_broken(tx: Tx, entry: int, reason: str) -> list[Notice]:
    """What was written, in the transaction that found it."""
    text = f"The call audit is broken at entry {entry}: {reason}"[:500]
    found = [Notice(each, "audit", text, "/audit") for each in await store.deciders(tx)]
    if found:
        await store.add(tx, found, now())
    return found
