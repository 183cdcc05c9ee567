"""Close what a process left when it died: the turn is aborted, its open calls are interrupted, and the next message finds a usable history (CV-03)."""

from decimal import Decimal
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Message, ToolCall, TurnRecord
from services.agent.conversations.store import add_message, hold
from services.agent.conversations.turns.store import OpenTurn, add_record, is_first, look_at, take
from services.agent.conversations.usecases.end_turn import tell_interrupted
from shared.clock import now
from shared.db import Tx

UNANSWERED = "The workplace stopped while this was being answered. Send it again if you still want an answer."


async def close_turn(tx: Tx, owner: Owner, turn_id: UUID, cost: Decimal | None) -> bool:
    """Exactly one row, marked aborted (rule 2). `cost` is what its calls cost, None: not known.

    False when the turn was closed already, or when one before it is still being answered elsewhere: turns do not mix.
    """
    found = await look_at(tx, owner, turn_id)
    if found is not None:
        await hold(tx, owner, found.conversation_id)
        if not await is_first(tx, owner, found.conversation_id, turn_id):
            return False
    turn = await take(tx, owner, turn_id)
    if turn is None:
        return False
    if turn.state == "waiting":
        await add_message(tx, owner, turn.conversation_id, Message(0, "user", turn.text, now(), turn_id))
    calls = await tell_interrupted(tx, owner, turn)
    await add_message(tx, owner, turn.conversation_id, Message(0, "reply", turn.reply, now(), turn_id, aborted=True))
    await add_record(tx, owner, abandoned(turn, cost, list(calls)))
    return True


def abandoned(turn: OpenTurn, cost: Decimal | None, calls: list[ToolCall]) -> TurnRecord:
    return TurnRecord(
        turn.turn_id, turn.conversation_id, turn.app, "", turn.text, turn.started_at or turn.begun_at,
        reply=turn.reply, calls=calls, cost=cost, outcome="aborted", error=UNANSWERED,
    )  # fmt: skip
