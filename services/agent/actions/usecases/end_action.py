"""How an action ended is written once, and the console is told."""

from datetime import datetime

from schemas.agent.v1 import ActionSettled
from services.agent.actions import store
from services.agent.actions.domain import LONGEST_LINE, End, Place
from shared.db import Tx


async def end_action(
    tx: Tx, place: Place, state: End, reason: str, at: datetime, statement_hash: str | None = None
) -> None:
    """The first end counts. The conversation is told afterwards. The transaction acts for the owner."""
    words = " ".join(reason.replace("\x00", "\ufffd").encode("utf-8", "replace").decode().split())[:LONGEST_LINE]
    await store.move(tx, place.card_id, "untold", at)
    if not await store.end(tx, place, state, words, statement_hash):
        return
    fact = ActionSettled(
        card_id=place.card_id, state=state, reason=words, statement_hash=statement_hash, at=at, version=2
    )
    tx.stage("action.settled", fact, key=f"action:{place.card_id}", version=2)
