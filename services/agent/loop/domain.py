"""What happens in a turn, as whoever looks on sees it. No framework."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from services.agent.owners.domain import Me

MAX_ITERATIONS = 12
"""Requests to a model in one turn; then it must answer with what it has."""
MAX_OUTPUT = 4096
"""Tokens of one answer, at most."""
LONGEST = 560.0
"""Seconds of one turn; a reservation lives for ten minutes (rule 1)."""
TRIES = 3
"""Times that one request is made when the provider cannot answer it. Each is a call of its own in the ledger."""
BUILT_IN = "built-in"
"""What the ledger and the turn's record call the model that needs no provider."""
Kind = Literal["waiting", "started", "text", "tool", "tools", "note", "cost", "done", "stopped", "failed"]
LAST: frozenset[Kind] = frozenset({"done", "stopped", "failed", "note"})
"""A note of the workplace stands for itself, as if it were a turn of its own."""


@dataclass(frozen=True)
class Happening:
    """One thing that happened in a turn. `number` counts from 1 in its turn, so that a page that lost the stream goes on where it was.

    waiting: {"text", "before"}; started: {"text"}; text: {"text"}; tool: {"call_id", "tool", "arguments"};
    tools: {"calls": [{"call_id", "tool", "state", "shown", "ms"}]}; note: {"text"}; cost: {"cost", "spent", "cap", "left", "frees_at"};
    done, stopped, failed: {"reply", "error", "cost", "tools"}. Money is exact, as text; None: not known.
    """

    conversation_id: UUID
    turn_id: UUID
    number: int
    kind: Kind
    data: dict[str, Any]

    @property
    def is_last(self) -> bool:
        return self.kind in LAST


@dataclass(frozen=True)
class TurnRef:
    """A turn that was accepted. `before`: how many of its conversation come first."""

    conversation_id: UUID
    turn_id: UUID
    before: int


Place = tuple[str, str, UUID]
"""A conversation, and whose: (user, 7) and (guest, 7) share nothing."""


def place_of(me: Me, conversation_id: UUID) -> Place:
    return (me.owner.kind, me.owner.id, conversation_id)
