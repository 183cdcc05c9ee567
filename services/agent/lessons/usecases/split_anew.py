"""Lessons that an earlier release split into words otherwise are split again (LE-03)."""

from schemas.outward import Owner
from services.agent.lessons import store
from shared.db import Tx

AT_ONCE = 500


async def split_anew(tx: Tx, owner: Owner) -> int:
    """How many were; up to 500 in one transaction, 0 when none is left."""
    old = await store.split_earlier(tx, owner, AT_ONCE)
    if old:
        await store.split_anew(tx, owner, old)
    return len(old)
