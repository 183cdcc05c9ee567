"""Who looks on at which conversation, and what they have missed. In memory: what lasts is in the conversation itself."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from services.agent.loop.domain import Happening, Kind, Place

KEPT = 60.0
"""Seconds that a finished turn can still be followed from anywhere in it."""
MOST_UNREAD = 20_000
"""Happenings that one reader may be behind; then its stream ends, and it comes back for the rest."""


@dataclass(eq=False)
class Reader:
    waiting: deque[Happening] = field(default_factory=deque)
    some: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False

    def give(self, happening: Happening) -> None:
        self.waiting.append(happening)
        self.over = self.over or len(self.waiting) > MOST_UNREAD
        self.some.set()

    def end(self) -> None:
        self.over = True
        self.some.set()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Until the service stops, or this reader is too far behind."""
        while True:
            while self.waiting:
                yield self.waiting.popleft()
            if self.over:
                return
            self.some.clear()
            await self.some.wait()


@dataclass(eq=False)
class Channel:
    """One conversation: its readers, and what happened in the turns that run or have just ended, in order."""

    turns: dict[UUID, list[Happening]] = field(default_factory=dict)
    readers: set[Reader] = field(default_factory=set)

    def missed(self, after: tuple[UUID, int] | None) -> list[Happening]:
        """What came after that one; after None, or one that nobody remembers: all of what still runs."""
        known = after is not None and after[0] in self.turns
        found: list[Happening] = []
        for turn_id, happenings in self.turns.items():
            if known and after is not None:
                if turn_id == after[0]:
                    found = [each for each in happenings if each.number > after[1]]
                else:
                    found += happenings
            elif not happenings or not happenings[-1].is_last:
                found += happenings
        return found


class Channels:
    """Of one process. `tell` carries what happens here to the other instance; what comes from there goes in by `hear`."""

    def __init__(self, tell: Callable[[Place, Happening], None]) -> None:
        self._tell = tell
        self._channels: dict[Place, Channel] = {}
        self._closed = False

    def publish(self, place: Place, happening: Happening) -> None:
        self.hear(place, happening)
        self._tell(place, happening)

    def hear(self, place: Place, happening: Happening) -> None:
        channel = self._channels.setdefault(place, Channel())
        happenings = channel.turns.setdefault(happening.turn_id, [])
        if happenings and happenings[-1].number >= happening.number:
            return
        happenings.append(happening)
        for reader in channel.readers:
            reader.give(happening)
        if happening.is_last:
            later(KEPT, self._forget, place, happening.turn_id)

    def is_known(self, place: Place) -> bool:
        """Whether something has happened there of late: then it is theirs, as the place says whose it is."""
        return place in self._channels and bool(self._channels[place].turns)

    def others(self, place: Place, reader: Reader) -> int:
        """How many look on beside this one."""
        channel = self._channels.get(place)
        return len(channel.readers - {reader}) if channel else 0

    @contextmanager
    def reading(self, place: Place, after: tuple[UUID, int] | None) -> Iterator[Reader]:
        """What happens there from now on, and what was missed since `after`."""
        channel = self._channels.setdefault(place, Channel())
        reader = Reader(deque(channel.missed(after)), over=self._closed)
        channel.readers.add(reader)
        try:
            yield reader
        finally:
            channel.readers.discard(reader)
            self._tidy(place)

    def close(self) -> None:
        """The service stops: every stream ends, once it has said what there is."""
        self._closed = True
        for channel in self._channels.values():
            for reader in channel.readers:
                reader.end()

    def _forget(self, place: Place, turn_id: UUID) -> None:
        channel = self._channels.get(place)
        if channel is not None:
            channel.turns.pop(turn_id, None)
            self._tidy(place)

    def _tidy(self, place: Place) -> None:
        channel = self._channels.get(place)
        if channel is not None and not channel.readers and not channel.turns:
            del self._channels[place]

    def drop(self, place: Place) -> None:
        """Nothing of this conversation is remembered any more (a guest has gone)."""
        channel = self._channels.pop(place, None)
        for reader in channel.readers if channel else ():
            reader.end()


def later(seconds: float, call: Callable[..., Any], *args: Any) -> None:
    """Without the context of whoever asks for it: that would hold all that a turn has held for as long."""
    asyncio.get_running_loop().call_later(seconds, call, *args, context=Context())


def to_wire(place: Place, happening: Happening) -> dict[str, Any]:
    """Plain JSON, for the other instance."""
    return {
        "kind": place[0], "id": place[1], "conversation": str(place[2]), "turn": str(happening.turn_id),
        "number": happening.number, "what": happening.kind, "data": happening.data,
    }  # fmt: skip


def from_wire(body: dict[str, Any]) -> tuple[Place, Happening]:
    conversation = UUID(body["conversation"])
    what: Kind = body["what"]
    happening = Happening(conversation, UUID(body["turn"]), int(body["number"]), what, body["data"])
    return (body["kind"], body["id"], conversation), happening
