"""The agent asks a person, and says what became of an action card."""

from schemas.agent.v1 import ActionRequested, ActionSettled
from services.console.actions import store
from services.console.notices import store as notices
from shared.db import Tx


async def record_action(tx: Tx, requested: ActionRequested) -> bool:
    """False when it was there already."""
    return await store.add(tx, requested.card)


async def record_action_settled(tx: Tx, settled: ActionSettled) -> None:
    """Who was told that it waits need not look any more."""
    await store.put_state(tx, settled.card_id, settled.state, settled.reason, settled.at, settled.version)
    await notices.settle(tx, "card", f"/actions/{settled.card_id}", settled.at)
    if settled.statement_hash is not None:
        await store.answer(tx, settled.statement_hash, "applied")


async def record_action_refused(tx: Tx, statement_hash: str, reason: str) -> bool:
    """The lock did not let a decision through. False when it was not about an action card."""
    return await store.answer(tx, statement_hash, "refused", reason) is not None
