"""Rows as what they stand for."""

import json

from asyncpg import Record

from services.agent.conversations.domain import Conversation, Message, ToolCall
from shared.errors import NotFound


def nothing_there() -> NotFound:
    """The same words for what was never there and for what is somebody else's (rule 24)."""
    return NotFound("There is no such conversation.")


def conversation_of(row: Record) -> Conversation:
    tainted = tuple(json.loads(row["tainted"]))
    return Conversation(row["conversation_id"], row["title"], row["created_at"], row["changed_at"], tainted)


def message_of(row: Record) -> Message:
    calls = calls_of(row["calls"]) if row["calls"] is not None else ()
    return Message(
        row["number"], row["part"], row["text"], row["at"], row["turn_id"], calls, row["aborted"], row["flagged"]
    )


def calls_of(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**each) for each in json.loads(text))
