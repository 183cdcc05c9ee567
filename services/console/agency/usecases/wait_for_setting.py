"""Wait until a setting of the agent is in force, or was refused."""

from services.console.agency import store
from services.console.live import Live
from shared.db import Database


async def wait_for_setting(db: Database, live: Live, statement_hash: str, seconds: float) -> tuple[str, str]:
    """(outcome, why it was refused); outcome `sent`: no answer in time."""
    found = ("sent", "")

    async def look() -> bool:
        nonlocal found
        async with db.reading() as tx:
            row = await store.change(tx, statement_hash)
        if row is not None:
            found = (row["outcome"], row["outcome_reason"] or "")
        return found[0] != "sent"

    await live.until(look, seconds)
    return found
