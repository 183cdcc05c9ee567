"""What moved since a moment, whichever instance wrote it."""

from datetime import datetime
from typing import Any

from shared.db import Tx

_NOW = "SELECT clock_timestamp()"
_MOVED = """
SELECT DISTINCT i.item_id::text AS item_id, i.state FROM app.inbox heard JOIN app.items i ON i.item_id::text = heard.about
 WHERE heard.handled_at > $1 AND heard.about IS NOT NULL LIMIT 200"""


async def moved_since(tx: Tx, at: datetime) -> list[dict[str, Any]]:
    """{"item_id", "state"} of items of which something was heard after `at`."""
    return [dict(row) for row in await tx.raw.fetch(_MOVED, at)]


async def present(tx: Tx) -> datetime:
    """The database's clock, by which steps are written."""
    found: datetime = await tx.raw.fetchval(_NOW)
    return found
