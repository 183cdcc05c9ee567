"""A card is allowed, refused, revoked, or nobody decided in time: what the agent waited for. It can only be told (S5)."""

from schemas.connectors.v1 import CardSettled
from services.agent import store
from shared.db import Tx

ME = "agent"


async def keep_card(tx: Tx, settled: CardSettled) -> None:
    """Of the agent's own cards only; the newest word counts, in whichever order they come."""
    if settled.asker == ME:
        await store.put_card(tx, settled.card_id, settled.state, settled.version, settled.at)
