"""A turn's turn has come: its message is added, and it gets the history."""

from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Message
from services.agent.conversations.store import add_message, call_by, hold
from services.agent.conversations.turns.store import set_running, state_of
from services.agent.conversations.views import LAST, newest
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict


async def start_turn(tx: Tx, owner: Owner, conversation_id: UUID, turn_id: UUID) -> list[Message] | None:
    """The whole history with its own message last; None while others are before it. Conflict when it was closed or has started."""
    await hold(tx, owner, conversation_id)
    text = await set_running(tx, owner, conversation_id, turn_id)
    if text is None:
        if await state_of(tx, owner, turn_id) == "waiting":
            return None
        raise closed()
    history = await newest(tx, owner, conversation_id, None, LAST)
    if not history:
        await call_by(tx, owner, conversation_id, text)
    said = Message(0, "user", text, now(), turn_id)
    return [*history, await add_message(tx, owner, conversation_id, said)]


def closed() -> Conflict:
    return Conflict("this turn is over: it was stopped, or its conversation was deleted", code="turn_over")
