"""What the console knows of what came back."""

from datetime import datetime
from uuid import UUID

from shared.db import Tx

_SINCE = "SELECT kind, count(*) AS n FROM app.interactions WHERE item_id = $1 AND at >= $2 GROUP BY kind ORDER BY kind"


async def since(tx: Tx, item_id: UUID, at: datetime | None) -> dict[str, int]:
    """What visitors did from then on, by kind; empty when it never was live."""
    if at is None:
        return {}
    return {row["kind"]: int(row["n"]) for row in await tx.raw.fetch(_SINCE, item_id, at)}
