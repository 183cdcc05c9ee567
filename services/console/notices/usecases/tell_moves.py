"""The lock moved a revision: whoever submitted it, decided on it or scheduled it is told."""

from schemas.bridge.v1 import ItemMoved
from services.console.notices import store
from services.console.notices.domain import Notice, about_move
from shared.clock import now
from shared.db import Tx

QUIET = ("superseded", "scheduled")


async def tell_moves(tx: Tx, moved: ItemMoved) -> list[Notice]:
    """What was written; call it in the transaction that records the move."""
    if moved.state in QUIET:
        return []
    facts = await store.facts(tx, moved.item_id, moved.revision)
    if facts is None:
        return []
    author = dict(facts) if facts["by_id"] is not None else None
    verdict = await store.newest_verdict(tx, moved.item_id, moved.revision)
    found = about_move(moved, facts["title"], author, dict(verdict) if verdict else None)
    if found:
        await store.add(tx, found, now())
    return found
