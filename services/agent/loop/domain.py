"""What happens in a turn, as whoever looks on sees it. No framework."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

MAX_ITERATIONS = 12
"""Requests to a model in one turn; then it must answer with what it has."""
MAX_OUTPUT = 4096
"""Tokens of one answer, at most."""
Kind = Literal["waiting", "started", "text", "tool", "tools", "note", "cost", "done", "stopped", "failed"]


@dataclass(frozen=True)
class Happening:
    """One thing that happened in a turn. `number` counts from 1 in its turn, so that a page that lost the stream goes on where it was.

    text: {"text"}; tool: {"call_id", "tool", "arguments"}; tools: {"calls": …}; cost: {"cost", "spent", "cap", "left", "frees_at"};
    done, stopped, failed: {"reply", "error", "cost", "tools"}.
    """

    conversation_id: UUID
    turn_id: UUID
    number: int
    kind: Kind
    data: dict[str, Any]
