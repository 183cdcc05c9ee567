"""What was deleted seven days ago is gone for good: from the trash, and from the history of rows that are not there again."""

from services.console.jobs.rows import store as rows
from shared.clock import now
from shared.db import Tx


async def prune_trash(tx: Tx, most: int) -> int:
    """How many rows."""
    return await rows.prune(tx, now(), most)
