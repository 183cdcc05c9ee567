"""A turn ends: the reply as far as it came, and the turn's row, together."""

from collections.abc import Sequence
from dataclasses import replace

from schemas.outward import Owner
from services.agent.conversations.domain import Message, ToolCall, TurnRecord
from services.agent.conversations.store import add_message, hold
from services.agent.conversations.turns.store import OpenTurn, add_record, take
from services.agent.conversations.usecases.start_turn import closed
from shared.clock import now
from shared.db import Tx

INTERRUPTED = "Interrupted: nobody knows whether this had an effect. It is not run again by itself."


async def end_turn(tx: Tx, owner: Owner, record: TurnRecord, *, aborted: bool) -> None:
    """One that never started leaves its row and no message. Conflict when it was closed already: then its row is written."""
    await hold(tx, owner, record.conversation_id)
    turn = await take(tx, owner, record.turn_id)
    if turn is None:
        raise closed()
    if turn.state == "running":
        await tell_interrupted(tx, owner, turn)
        for message in _last_words(record, aborted=aborted):
            await add_message(tx, owner, record.conversation_id, message)
    outcome = "aborted" if aborted else record.outcome
    await add_record(tx, owner, replace(record, outcome=outcome))


async def tell_interrupted(tx: Tx, owner: Owner, turn: OpenTurn) -> tuple[ToolCall, ...]:
    """Calls that begun and did not end become a message, so that the history is whole."""
    calls = tuple(replace(call, state="interrupted", result=None, shown=INTERRUPTED) for call in turn.calls)
    if calls:
        await add_message(tx, owner, turn.conversation_id, Message(0, "tools", "", now(), turn.turn_id, calls))
    return calls


def _last_words(record: TurnRecord, *, aborted: bool) -> Sequence[Message]:
    said = []
    if record.reply or aborted:
        said.append(Message(0, "reply", record.reply, now(), record.turn_id, aborted=aborted))
    if record.error and record.outcome in ("failed", "refused") and record.error not in record.reply:
        said.append(Message(0, "note", record.error, now(), record.turn_id))
    return said
