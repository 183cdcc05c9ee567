"""What the chat reads beyond conversations themselves: what each has cost."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from schemas.outward import Owner
from shared.db import Tx

_COSTS = """
SELECT conversation_id, CASE WHEN bool_or(cost IS NULL) THEN NULL ELSE sum(cost) END AS cost
FROM core.turns WHERE owner_kind = $1 AND owner_id = $2 AND conversation_id = ANY ($3) GROUP BY conversation_id"""


async def costs(tx: Tx, owner: Owner, conversations: Sequence[UUID]) -> dict[UUID, Decimal | None]:
    """Of those that had a turn. None: a turn's cost is not known, so the sum is not (rule 30)."""
    rows = await tx.raw.fetch(_COSTS, owner.kind, owner.id, list(conversations))
    return {row["conversation_id"]: row["cost"] for row in rows}
