"""An owner's action cards go, with every word on them; those that waited wait no more."""

from datetime import datetime

from schemas.outward import Owner
from services.agent.actions import store
from services.agent.actions.usecases.end_action import end_action
from shared.db import Tx

GONE = "its owner had their data deleted"


async def forget_actions(tx: Tx, owner: Owner, at: datetime) -> int:
    """How many. The console is told of those that were open. The transaction acts for the owner."""
    for place in await store.open_places(tx, owner):
        await end_action(tx, place, "failed" if place.phase == "running" else "refused", GONE, at)
    return await store.forget(tx, owner)
