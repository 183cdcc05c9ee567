"""What a tool would do becomes the one card that waits for a person (S11)."""

from datetime import datetime

from schemas.agency import ActionCard
from schemas.agent.v1 import ActionRequested
from services.agent.actions import store
from services.agent.actions.domain import MOST_WAITING, REPLACED, is_replaced, is_same, make_card, read_card
from services.agent.actions.usecases.end_action import end_action
from services.agent.tools.domain import Arguments, Asked, Tool
from shared.db import Tx
from shared.errors import TooMany
from shared.ids import fresh_id


async def request_action(tx: Tx, asked: Asked, tool: Tool, arguments: Arguments, at: datetime) -> ActionCard:
    """The card that asks for exactly this already, or a new one, in place of one that asked for it at another time. TooMany (code `cards`) when too many of this owner wait.

    The transaction acts for the owner.
    """
    card = make_card(fresh_id(), asked, tool, arguments, at)
    await store.lock(tx, asked.me.owner)
    held = [read_card(raw) for raw in await store.waiting(tx, asked.me.owner, at)]
    known = next((each for each in held if is_same(each, asked, tool, card.arguments)), None)
    if known is not None:
        return known
    if len(held) >= MOST_WAITING:
        raise TooMany(f"{MOST_WAITING} of your actions wait for a person already; decide them in the console first.", code="cards")  # fmt: skip
    for each in [held_card for held_card in held if is_replaced(held_card, asked, tool, arguments)]:
        place = await store.place(tx, each.card_id, lock=True)
        if place is not None and place.phase == "waiting":
            await end_action(tx, place, "expired", REPLACED, at)
    await store.add_card(tx, card, asked.turn_id)
    tx.stage("action.requested", ActionRequested(card=card), key=f"action:{card.card_id}", version=1)
    return card
