"""Delete a conversation, or everything that an owner said: the words go, the figures of the turns stay."""

from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.store import delete, forget, hold
from services.agent.conversations.turns.store import add_record, open_turns, take
from services.agent.conversations.usecases.close_turn import abandoned
from shared.db import Tx


async def delete_conversation(tx: Tx, owner: Owner, conversation_id: UUID) -> None:
    """A turn that runs in it is over; whoever works at it finds that out. NotFound."""
    await hold(tx, owner, conversation_id)
    await _end_open(tx, owner, conversation_id)
    await delete(tx, owner, conversation_id)


async def forget_conversations(tx: Tx, owner: Owner) -> tuple[int, list[UUID]]:
    """All of them: how many, and those in which a turn was open."""
    places = await _end_open(tx, owner, None)
    return await forget(tx, owner), places


async def _end_open(tx: Tx, owner: Owner, conversation_id: UUID | None) -> list[UUID]:
    closed = []
    for turn_id in await open_turns(tx, owner, conversation_id):
        turn = await take(tx, owner, turn_id)
        if turn is not None:
            await add_record(tx, owner, abandoned(turn, None, list(turn.calls)))
            closed.append(turn.conversation_id)
    return closed
