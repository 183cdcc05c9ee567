"""Conversations, messages and turns. Messages are only ever added; a tool call and its result are added together or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Protocol
from uuid import UUID

from services.agent.owners.domain import Me

MAX_MESSAGE = 256 * 1024
"""Bytes of a chat message (rule 5)."""
MOST_WAITING = 8
"""Turns of one conversation that wait their turn; the next is told `busy` (rule 4)."""
Outcome = Literal["ok", "aborted", "failed", "refused"]
Part = Literal["user", "reply", "tools", "note"]


@dataclass(frozen=True)
class Conversation:
    """`tainted`: what untrusted text it has read, newest last; empty once its owner has cleared it (S11)."""

    conversation_id: UUID
    title: str
    created_at: datetime
    changed_at: datetime
    tainted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    """One message. user: `text`. reply: `text`, and whether it was cut off. tools: `calls`, each with its result. note: what the workplace
    tells, e.g. that a proposal was approved. `number` counts from 1 in its conversation."""

    number: int
    part: Part
    text: str
    at: datetime
    turn_id: UUID | None = None
    calls: tuple["ToolCall", ...] = ()
    aborted: bool = False
    flagged: bool = False


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool with its result. `state` interrupted: nobody knows whether it had an effect; it is never run again by itself."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    state: Literal["done", "failed", "refused", "waiting", "interrupted"]
    result: Any = None
    shown: str = ""
    ms: int = 0


@dataclass
class TurnRecord:
    """What a turn did, written once at its end."""

    turn_id: UUID
    conversation_id: UUID
    app: str
    model: str
    prompt: str
    started_at: datetime
    reply: str = ""
    iterations: int = 0
    calls: list[ToolCall] = field(default_factory=list)
    cost: Decimal | None = Decimal(0)
    outcome: Outcome = "ok"
    error: str = ""
    trace_id: str = ""


class Conversations(Protocol):
    """Kept in Postgres for a user, in memory for a guest; the same words for both. NotFound for what is not theirs (rule 24)."""

    async def open(self, me: Me, conversation_id: UUID | None) -> Conversation: ...
    async def list(self, me: Me, limit: int = 50) -> Sequence[Conversation]: ...
    async def messages(
        self, me: Me, conversation_id: UUID, before: int | None = None, limit: int = 200
    ) -> Sequence[Message]:
        """The newest `limit` before that number, oldest first."""
        ...

    async def begin(self, me: Me, conversation_id: UUID, turn_id: UUID, text: str, app: str) -> int:
        """Accept a turn: how many are before it. Too many: TooMany (code `busy`). Its user message is added when it starts."""
        ...

    async def start(self, me: Me, conversation_id: UUID, turn_id: UUID) -> Sequence[Message]:
        """Waits until the turns before it have ended; then adds the user message and returns the whole history, that message last.

        Conflict (code `turn_over`) when it was closed meanwhile: stopped, its conversation deleted, or taken for dead.
        """
        ...

    async def saying(self, me: Me, turn_id: UUID, reply: str) -> None:
        """What was answered so far, should this process die; once a second at most."""
        ...

    async def calling(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        """Tools begin: noted, so that a crash shows them as interrupted."""
        ...

    async def called(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        """Tools ended: calls and results become one message."""
        ...

    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None: ...
    async def clear(self, me: Me, conversation_id: UUID) -> None: ...
    async def end(self, me: Me, record: TurnRecord, *, aborted: bool = False) -> None:
        """The reply (as far as it came) and the turn's row, in one transaction; the next waiting turn may start.

        A turn that never started leaves its row and no message. Conflict (code `turn_over`) when it was closed already, with its row.
        """
        ...

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None: ...
    async def search(self, me: Me, words: str, limit: int = 20) -> Sequence[tuple[Conversation, Message]]:
        """Newest first: every word occurs, in any case; what stands in quotes occurs exactly. Refused (code `search`)."""
        ...

    async def rename(self, me: Me, conversation_id: UUID, title: str) -> None: ...
    async def delete(self, me: Me, conversation_id: UUID) -> None:
        """A turn that runs in it is over."""
        ...
