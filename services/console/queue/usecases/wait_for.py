"""Wait until the lock has answered what was handed to it."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

from services.console.live import Live
from services.console.queue import mass_views, store, views
from shared.db import Database


async def wait_for_verdicts(db: Database, live: Live, hashes: list[str], seconds: float) -> dict[str, tuple[str, str]]:
    """`{statement_hash: (outcome, reason)}` with outcome applied, refused, or sent when no answer came in time."""
    found: dict[str, tuple[str, str]] = {}

    async def look() -> bool:
        async with db.reading() as tx:
            for row in await store.outcomes(tx, hashes):
                found[row["statement_hash"]] = (row["outcome"], row["outcome_reason"] or "")
        return all(outcome != "sent" for outcome, _ in found.values())

    await live.until(look, seconds)
    return found


MANY, CALM = 200, 0.25
"""With so many open answers nobody looks again for each of them: so many seconds between two looks."""


async def wait_for_batch(
    db: Database, live: Live, batch: UUID, seconds: float, left: Callable[[int], None] = lambda _: None
) -> bool:
    """Until the lock has answered every decision of the batch; `left` hears how many are open. False when the time is over before."""

    async def look() -> bool:
        async with db.reading() as tx:
            left(found := await mass_views.count_unanswered(tx, batch))
        if found > MANY:
            await asyncio.sleep(CALM)
        return found == 0

    return await live.until(look, seconds)


async def wait_for_queue(db: Database, live: Live, ids: list[UUID], seconds: float) -> dict[UUID, dict[str, Any]]:
    """`{submission_id: row of app.submissions}`; state is queued, unchanged, refused, or sent when no answer came."""
    found: dict[UUID, dict[str, Any]] = {}

    async def look() -> bool:
        async with db.reading() as tx:
            for row in await store.submission_states(tx, ids):
                found[row["submission_id"]] = dict(row)
        return all(row["state"] != "sent" for row in found.values())

    await live.until(look, seconds)
    return found


async def wait_for_items(db: Database, live: Live, ids: list[UUID], until: str, seconds: float) -> bool:
    """Until every item is `live` on the site, `gone` from it, or in the state named by `until`."""

    async def look() -> bool:
        async with db.reading() as tx:
            return await views.count_reached(tx, ids, until) == len(set(ids))

    return await live.until(look, seconds)
