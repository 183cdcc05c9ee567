"""Links that have expired go, whoever's they were."""

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from schemas.outward import Owner
from services.agent.downloads import store
from shared.db import Tx

AT_ONCE = 500


async def drop_expired(tx: Tx, at: datetime) -> int:
    """How many; there may be more when it is `AT_ONCE`."""
    by_owner: dict[Owner, list[UUID]] = defaultdict(list)
    for owner, download_id in await store.overdue(tx, at, AT_ONCE):
        by_owner[owner].append(download_id)
    for owner, ids in by_owner.items():
        async with tx.acting_for(owner):
            await store.remove(tx, owner, ids)
    return sum(len(ids) for ids in by_owner.values())
