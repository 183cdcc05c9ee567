"""A reviewer has an item open. A claim is a courtesy with a lease, not a lock: the decision itself is what is guarded."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from services.console.claims import store
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx

LEASE = timedelta(minutes=15)


@dataclass(frozen=True)
class Claimed:
    """`held`: whether the caller has it now. `begun`: it was not theirs before. `lost_by`: id of the person it was taken from."""

    held: bool
    begun: bool
    lost_by: str | None = None


async def claim_item(tx: Tx, caller: Caller, item_id: UUID, tab: str = "", *, over: bool = False) -> Claimed:
    """Take or renew the lease of 15 minutes. Not held when somebody else has it, unless it is taken over, or when nothing waits."""
    caller.require("decide")
    at = now()
    before = await store.holder(tx, item_id)
    wanted = store.Claim(caller.id, caller.name, at, at + LEASE, tab)
    if await store.claim(tx, item_id, wanted, over=over) is None:
        return Claimed(held=False, begun=False)
    live = before is not None and before["claimed_until"] is not None and before["claimed_until"] > at
    other = before["claimed_by"] if live and before and before["claimed_by"] != caller.id else None
    return Claimed(held=True, begun=not live or other is not None, lost_by=other)
