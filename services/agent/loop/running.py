"""One turn while it runs: what it has said and done so far, and how it tells whoever looks on."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from services.agent.conversations.domain import ToolCall, TurnRecord
from services.agent.domain import mend
from services.agent.loop.domain import BUILT_IN, Happening, Kind, Place, TurnRef, place_of
from services.agent.loop.figures import money
from services.agent.loop.history import mended
from services.agent.loop.metering import Bill
from services.agent.owners.domain import Me

TOGETHER = 0.03
"""Seconds for which pieces of text are gathered: a page cannot show more, and every piece is a message."""
Tell = Callable[[Place, Happening], None]


@dataclass(eq=False)
class Turn:
    """`tied`: it ends with whoever asked for it."""

    me: Me
    ref: TurnRef
    text: str
    tied: bool
    tell: Tell
    at: datetime
    model: str = BUILT_IN
    started: bool = False
    reply: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    iterations: int = 0
    error: str = ""
    ending: bool = False
    task: "asyncio.Task[None] | None" = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    record: TurnRecord | None = None
    bill: Bill = field(init=False)
    _number: int = 0
    _text: list[str] = field(default_factory=list)
    _flushing: asyncio.TimerHandle | None = None
    _apart: bool = False

    def __post_init__(self) -> None:
        self.bill = Bill(self.ref.turn_id, self.me.account, self.me.app)

    @property
    def place(self) -> Place:
        return place_of(self.me, self.ref.conversation_id)

    @property
    def turn_id(self) -> UUID:
        return self.ref.turn_id

    def happen(self, kind: Kind, data: dict[str, Any]) -> None:
        self.flush()
        self._say(kind, data)

    def write(self, text: str) -> None:
        """A piece of the reply. The first one goes out at once."""
        if self._apart and text:
            self._apart = False
            text = f"\n\n{text}"
        self.reply.append(text)
        self._text.append(text)
        if self._flushing is None:
            self.flush()
            self._flushing = asyncio.get_running_loop().call_later(TOGETHER, self._later)

    def apart(self) -> None:
        """What is said after tools is a paragraph of its own."""
        self._apart = bool(self.reply)

    def flush(self) -> None:
        if self._text:
            text, self._text = "".join(self._text), []
            self._say("text", {"text": mend(text)})

    def show_call(self, call: ToolCall) -> None:
        self.happen("tool", {"call_id": call.call_id, "tool": call.tool, "arguments": mended(call.arguments)})

    def show_tools(self, calls: Sequence[ToolCall]) -> None:
        shown = [
            {"call_id": each.call_id, "tool": each.tool, "state": each.state, "shown": mend(each.shown), "ms": each.ms}
            for each in calls
        ]
        self.happen("tools", {"calls": shown})

    def stop(self) -> None:
        """What was produced so far is kept and paid for. Once is enough: what comes then must not be cut off."""
        if self.task is not None and not self.ending:
            self.ending = True
            self.task.cancel()

    def close(self, record: TurnRecord, kind: Kind) -> None:
        """Told last of all, once the record is durable."""
        self.record = record
        if self._flushing is not None:
            self._flushing.cancel()
        tools = [each.tool for each in record.calls]
        said = {"reply": mend(record.reply), "error": record.error, "cost": money(record.cost), "tools": tools}
        self.happen(kind, said)
        self.over.set()

    def _later(self) -> None:
        self._flushing = None
        if self._text:
            self.flush()
            self._flushing = asyncio.get_running_loop().call_later(TOGETHER, self._later)

    def _say(self, kind: Kind, data: dict[str, Any]) -> None:
        self._number += 1
        self.tell(self.place, Happening(self.ref.conversation_id, self.turn_id, self._number, kind, data))
