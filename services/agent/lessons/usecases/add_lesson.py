"""Keep what was learnt, with where it came from."""

from schemas.outward import Owner
from services.agent.lessons import store
from services.agent.lessons.domain import MOST_LESSONS, Learnt, Origin, full, mended
from shared.db import Tx


async def add_lesson(tx: Tx, owner: Owner, learnt: Learnt, origin: Origin) -> int:
    """Its number, from 1 for each owner. Refused (code `too_many_lessons`) at the most that one owner may have."""
    kept, flagged = mended(learnt)
    if await store.count(tx, owner) >= MOST_LESSONS:
        raise full()
    return await store.add(tx, owner, kept, origin, flagged=flagged)
