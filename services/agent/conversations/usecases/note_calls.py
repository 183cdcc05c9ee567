"""Tools begin, and tools end: a call is noted before it runs, and stored with its result or not at all (rule 4)."""

from collections.abc import Sequence
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Message, ToolCall
from services.agent.conversations.store import add_message, hold
from services.agent.conversations.turns.store import begun_calls, set_calls
from services.agent.conversations.usecases.start_turn import closed
from shared.clock import now
from shared.db import Tx


async def begin_calls(tx: Tx, owner: Owner, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
    """Conflict when the turn is over: then nothing may run."""
    begun = await begun_calls(tx, owner, turn_id)
    if begun is None:
        raise closed()
    new = {call.call_id for call in calls}
    await set_calls(tx, owner, turn_id, [*(call for call in begun if call.call_id not in new), *calls])


async def end_calls(tx: Tx, owner: Owner, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> Message:
    """One message of calls and results. Conflict when the turn is over: its calls were told as interrupted."""
    await hold(tx, owner, conversation_id)
    begun = await begun_calls(tx, owner, turn_id)
    if begun is None:
        raise closed()
    ended = {call.call_id for call in calls}
    await set_calls(tx, owner, turn_id, [call for call in begun if call.call_id not in ended])
    return await add_message(tx, owner, conversation_id, Message(0, "tools", "", now(), turn_id, tuple(calls)))
