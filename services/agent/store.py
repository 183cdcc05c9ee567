"""The agent's statements."""

from uuid import UUID

from sqlalchemy.dialects.postgresql import insert

from services.agent.tables import proposals
from shared.db import Tx


async def next_version(tx: Tx, item_id: UUID) -> int:
    """The place of a new proposal among the agent's proposals of this item, from 1; locks the item's row."""
    statement = insert(proposals).values(item_id=item_id, version=1)
    counted = statement.on_conflict_do_update(
        index_elements=[proposals.c.item_id], set_={"version": proposals.c.version + 1}
    )
    return int(await tx.value(counted.returning(proposals.c.version)))
