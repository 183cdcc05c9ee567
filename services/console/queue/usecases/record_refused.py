"""The lock refused a decision or withdrawal: nothing changed, and the item waits again."""

from schemas.bridge.v1 import DecisionRefused
from services.console.queue import store
from shared.db import Tx


async def record_refused(tx: Tx, refused: DecisionRefused) -> None:
    await store.settle_decision(tx, refused.statement_hash, "refused", refused.reason, refused.at)
    await store.undo_deciding(tx, refused.statement_hash)
