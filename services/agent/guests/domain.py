"""A guest's visit and what it may take of this process's memory. No framework."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Conversation, Message, Part, ToolCall
from services.agent.tasks.domain import Run, Task

MOST_VISITS = 5000
"""Visits at once, in one process. The one that was idle longest makes room for the next."""
MOST_TALKS = 20
"""Conversations of one visit."""
MOST_BYTES = 2 * 1024 * 1024
"""Text that one visit keeps. Then its next message is refused."""
ALL_BYTES = 256 * 1024 * 1024
"""Text of all visits together; idle ones make room."""
LINGERS = 300.0
"""Seconds that a visit outlives its last open page: a reload, a train in a tunnel, a page without JavaScript."""
LONGEST = 12 * 3600.0
"""Seconds of a visit, at most."""
MOST_A_MINUTE = 30
"""Messages of one visit."""


@dataclass(slots=True)
class Talk:
    """One conversation of a visit. `queue`: turns in the order in which they came, the first of them runs. `open`: tools that
    run now. `moved`: the queue has become shorter."""

    shown: Conversation
    messages: list[Message] = field(default_factory=list)
    queue: dict[UUID, str] = field(default_factory=dict)
    open: tuple[ToolCall, ...] = ()
    cost: Decimal | None = Decimal(0)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def leave(self, turn_id: UUID) -> None:
        """It waits or runs no more; whoever waits looks again."""
        self.queue.pop(turn_id, None)
        self.moved.set()
        self.moved = asyncio.Event()

    def add(self, part: Part, text: str, at: datetime, **more: Any) -> int:
        """Append a message; how many bytes it takes."""
        message = Message(len(self.messages) + 1, part, text, at, **more)
        self.messages.append(message)
        self.shown = replace(self.shown, changed_at=at)
        return size_of(message)


@dataclass(slots=True)
class Reminder:
    """A task of a visit and what became of its times, newest first."""

    task: Task
    runs: list[Run] = field(default_factory=list)


@dataclass(slots=True)
class Visit:
    """A guest for as long as they are here. `token_hash`: of the cookie, which stands nowhere. `seen`, `began`: the loop's clock."""

    owner: Owner
    token_hash: str
    began: float
    seen: float
    zone: str = "UTC"
    streams: int = 0
    bytes: int = 0
    talks: dict[UUID, Talk] = field(default_factory=dict)
    sent: list[float] = field(default_factory=list)
    tasks: dict[UUID, Reminder] = field(default_factory=dict)

    @property
    def is_busy(self) -> bool:
        return self.streams > 0 or any(talk.queue for talk in self.talks.values())

    def is_over(self, clock: float) -> bool:
        return clock - self.began > LONGEST or (not self.is_busy and clock - self.seen > LINGERS)


def size_of(message: Message) -> int:
    """Bytes of text that a message keeps, about."""
    calls = sum(len(json.dumps([each.arguments, each.result], default=str)) + len(each.shown) for each in message.calls)
    return len(message.text.encode("utf-8", "replace")) + calls + 200
