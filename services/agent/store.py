"""The agent's statements."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.dialects.postgresql import insert

from services.agent.tables import cards, proposals
from shared.db import Tx


async def next_version(tx: Tx, item_id: UUID) -> int:
    """The place of a new proposal among the agent's proposals of this item, from 1; locks the item's row."""
    statement = insert(proposals).values(item_id=item_id, version=1)
    counted = statement.on_conflict_do_update(
        index_elements=[proposals.c.item_id], set_={"version": proposals.c.version + 1}
    )
    return int(await tx.value(counted.returning(proposals.c.version)))


async def put_card(tx: Tx, card_id: UUID, state: str, version: int, at: datetime) -> None:
    """The card's newest state; an older word changes nothing."""
    fresh = insert(cards).values(card_id=card_id, state=state, version=version, at=at)
    changed = {name: fresh.excluded[name] for name in ("state", "version", "at")}
    newer = cards.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["card_id"], set_=changed, where=newer))
