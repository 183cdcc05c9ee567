"""The calls that run in this process: where their answers go, how much is under way, and how they are ended."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from schemas.outward import Asker
from shared.asking.wire import (
    BODY,
    BODY_WINDOW,
    CHUNK,
    CREDIT,
    GONE_AFTER,
    KEEP,
    MAX_BODY,
    WINDOW,
    Cancel,
    FrameKind,
    More,
    Send,
    frame,
)
from shared.bus.asks import AnswerLine
from shared.errors import Conflict, Refused, SchleuseError, TooLarge, Transient

if TYPE_CHECKING:
    from services.connectors.calls.admission import Admitted

MOST_RUNNING = 400
"""Of one asker in this process."""
MOST_HELD = 128 * 1024 * 1024
"""Bytes of requests' bodies of one asker that are kept at once."""
EARLY = 1000
"""Cancels that came before their ask are remembered so many deep."""


def gone() -> SchleuseError:
    return Refused("the asker is gone", code="asker_gone")


def cancelled() -> SchleuseError:
    return Refused("the asker cancelled it", code="cancelled")


@dataclass(eq=False)
class Call:
    """One ask while it runs. `begun`: admitted, the audit is told; `over`: how it ends is settled; `reason`: why it is being ended; `streams`: its body goes on as it comes."""

    asker: Asker
    ask_id: UUID
    call_id: UUID
    reply: str
    line: AnswerLine
    heard_at: float
    task: "asyncio.Task[None] | None" = None
    admitted: "Admitted | None" = None
    begun: bool = False
    over: bool = False
    reason: SchleuseError | None = None
    streams: bool = False
    sent: int = 0
    taken: int = 0
    number: int = 0
    body_taken: int = 0
    pieces: "asyncio.Queue[tuple[bytes, bool] | SchleuseError]" = field(default_factory=asyncio.Queue)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    _piece: int = 0
    _credited: int = 0
    _arrived: int = 0

    def cut(self, reason: SchleuseError) -> None:
        """End it now; the first reason counts."""
        if self.reason is None and self.task is not None and not self.over:
            self.reason = reason
            self.task.cancel()

    async def say(self, kind: FrameKind, payload: bytes = b"") -> None:
        """A numbered frame of the answer. Transient when the bus is away: then the answer has a gap, and its asker knows."""
        if not self.reply:
            return
        number, self.number = self.number, self.number + 1
        await self.line.say(self.reply, frame(kind, number, payload))

    async def keep(self) -> None:
        await self.line.say(self.reply, frame(KEEP, 0))

    async def send(self, chunk: bytes) -> None:
        """A piece of the answer; waits while the asker is slow."""
        for start in range(0, len(chunk), CHUNK):
            part = chunk[start : start + CHUNK]
            while self.sent - self.taken + len(part) > WINDOW:
                self.room.clear()
                await self.room.wait()
            self.sent += len(part)
            await self.say(BODY, part)

    def more(self, taken: int) -> None:
        self.taken = max(self.taken, min(taken, self.sent))
        self.room.set()

    @property
    def held(self) -> int:
        """Bytes of its body that are kept here."""
        return self._arrived - self.body_taken if self.streams else self._arrived

    def arrived(self, first: bytes, more: bool) -> None:
        """The part of the body that came with the request."""
        self._arrived = len(first)
        self.pieces.put_nowait((first, more))

    def piece(self, send: Send, raw: bytes) -> None:
        """The next part. An asker that skips one or sends more than it has room for is cut."""
        self._arrived += len(raw)
        if send.number != self._piece + 1:
            self.pieces.put_nowait(Transient("a part of the request's body was lost on its way", code="body_lost"))
        elif self._arrived > MAX_BODY:
            self.pieces.put_nowait(
                TooLarge(f"the request's body is over {MAX_BODY} bytes; send it in parts", code="body_too_large")
            )
        elif self._arrived > self._credited + 2 * BODY_WINDOW:
            self.pieces.put_nowait(Refused("more of the body was sent than there was room for", code="malformed"))
        else:
            self.pieces.put_nowait((raw, not send.last))
        self._piece = send.number

    async def take(self) -> tuple[bytes, bool]:
        """(the next part of the body, whether more follows)."""
        found = await self.pieces.get()
        if isinstance(found, SchleuseError):
            raise found
        self.body_taken += len(found[0])
        if found[1]:
            self._credited = self.body_taken
            await self.line.say(self.reply, frame(CREDIT, 0, b"%d" % self.body_taken))
        return found


class Running:
    """By asker and the asker's own word for it; a word of one asker is nothing to another."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, UUID], Call] = {}
        self._early: OrderedDict[tuple[str, UUID], None] = OrderedDict()

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls.values()))

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: Call) -> None:
        """Conflict when the asker uses a word twice, Transient (`busy`) when it has too many running."""
        key = (call.asker, call.ask_id)
        if key in self._calls:
            raise Conflict("this ask_id runs already; every ask has its own", code="ask_id")
        if sum(1 for asker, _ in self._calls if asker == call.asker) >= MOST_RUNNING:
            raise Transient(f"{MOST_RUNNING} calls of {call.asker} run already; try again", code="busy")
        self._calls[key] = call
        if self._early.pop(key, key) is None:
            call.reason = cancelled()

    def remove(self, call: Call) -> None:
        if self._calls.get((call.asker, call.ask_id)) is call:
            del self._calls[call.asker, call.ask_id]

    def cancel(self, asker: str, what: Cancel) -> None:
        found = [
            call
            for call in self
            if call.asker == asker and (call.ask_id == what.ask_id or call.call_id == what.call_id)
        ]
        for call in found:
            call.cut(cancelled())
        if not found and what.ask_id is not None:
            self._early[asker, what.ask_id] = None
            while len(self._early) > EARLY:
                self._early.popitem(last=False)

    def more(self, asker: str, what: More, at: float) -> None:
        for ask_id, taken in what.taken.items():
            call = self._calls.get((asker, ask_id))
            if call is not None:
                call.heard_at = at
                call.more(taken)

    def piece(self, asker: str, what: Send, raw: bytes) -> None:
        call = self._calls.get((asker, what.ask_id))
        if call is None:
            return
        if sum(each.held for each in self if each.asker == asker) + len(raw) > MOST_HELD:
            call.cut(Transient(f"bodies of {asker}'s requests fill {MOST_HELD} bytes already; try again", code="busy"))
            return
        call.piece(what, raw)

    def cut_silent(self, at: float) -> None:
        """Calls whose asker has not been heard for so long have nobody who reads them."""
        for call in self:
            if at - call.heard_at > GONE_AFTER:
                call.cut(gone())
