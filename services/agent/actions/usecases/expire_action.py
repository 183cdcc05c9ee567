"""Nobody decided in seven days, or whoever ran it is gone."""

from datetime import datetime

from services.agent.actions import store
from services.agent.actions.domain import INTERRUPTED, Place
from services.agent.actions.usecases.end_action import end_action
from shared.db import Tx


async def expire_action(tx: Tx, place: Place, at: datetime) -> None:
    """The transaction acts for the owner."""
    if place.phase == "waiting":
        await end_action(tx, place, "expired", "", at)
        return
    decided = await store.decision(tx, place.owner, place.card_id)
    await end_action(tx, place, "failed", INTERRUPTED, at, decided[0].hash if decided else None)
