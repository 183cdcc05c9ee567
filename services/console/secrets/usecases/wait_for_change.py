"""Wait until a change of a secret is in force, or was refused."""

from services.console.live import Live
from services.console.secrets import store
from shared.db import Database


async def wait_for_change(db: Database, live: Live, statement_hash: str, seconds: float) -> tuple[str, str]:
    """(applied, refused, or sent when nobody answered in time; why)."""
    found = ("sent", "")

    async def look() -> bool:
        nonlocal found
        async with db.reading() as tx:
            found = await store.outcome(tx, statement_hash)
        return found[0] != "sent"

    await live.until(look, seconds)
    return found
