"""Delete raw signals older than 7 days, in bounded steps."""

from services.site.signals import store
from shared.db import Database

STEP = 5000
MAX_STEPS = 20


async def prune_signals(db: Database) -> int:
    """How many went; at most 100,000 in one call, each step a transaction of its own."""
    gone = 0
    for _ in range(MAX_STEPS):
        async with db.transaction() as tx:
            step = await store.prune(tx)
        gone += step
        if step < STEP:
            break
    return gone
