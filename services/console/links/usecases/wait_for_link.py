"""Wait until the lock has answered a change of a share link."""

from uuid import UUID

from services.console.links import store
from services.console.links.domain import ShareLink, read_link
from services.console.live import Live
from shared.clock import now
from shared.db import Database
from shared.errors import NotFound


async def wait_for_link(db: Database, live: Live, link_id: UUID, seconds: float) -> ShareLink:
    """The link as it stands then; `opening` or `closing` when no answer came in time."""
    found: ShareLink | None = None

    async def look() -> bool:
        nonlocal found
        async with db.reading() as tx:
            row = await store.one(tx, link_id)
        found = None if row is None else read_link(row, now())
        return found is not None and found.state not in ("opening", "closing")

    await live.until(look, seconds)
    if found is None:
        raise NotFound("There is no such share link.")
    return found
