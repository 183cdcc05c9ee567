"""What open pages are told while one watches: a small hub in memory, fed after commits."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.clock import now

ROOM = 200
"""Messages a slow page may be behind before it is told to load again."""
PING = 15.0
"""Seconds of silence after which a stream shows that it is alive."""
LOOK_AGAIN = 1.0
"""Seconds; another instance may have read what one waits for, and its news does not reach this process."""
MASSES = frozenset({"signals", "audit"})
"""News that comes in thousands; nobody who waits for a decision wants to look again because of it."""
END: dict[str, Any] = {"event": "end"}


@dataclass(eq=False)
class Listener:
    """One open stream. `session` and `person` say whom it belongs to; it ends with them (S8). `without`: events not wanted.

    News with `persons` is for these alone.
    """

    session: str = ""
    person: str = ""
    without: frozenset[str] = frozenset()
    messages: asyncio.Queue[dict[str, Any]] = field(default_factory=lambda: asyncio.Queue(ROOM))

    def tell(self, message: dict[str, Any]) -> None:
        if message.get("event") in self.without or self.person not in message.get("persons", (self.person,)):
            return
        try:
            self.messages.put_nowait(message)
        except asyncio.QueueFull:
            self.finish()

    def finish(self) -> None:
        while not self.messages.empty():
            self.messages.get_nowait()
        self.messages.put_nowait(END)


class Live:
    """The listeners of this process."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self.others: Callable[[dict[str, Any]], None] = lambda message: None
        self._stopped = False

    @asynccontextmanager
    async def listen(
        self, session: str = "", person: str = "", without: frozenset[str] = frozenset()
    ) -> AsyncIterator[Listener]:
        listener = Listener(session, person, without)
        self._listeners.add(listener)
        if self._stopped:
            listener.finish()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def tell(self, **message: Any) -> None:
        """Tell every open page, those of other instances too. Call it after the commit."""
        self.tell_here(message)
        self.others(message)

    def tell_here(self, message: dict[str, Any]) -> None:
        for listener in self._listeners:
            listener.tell(message)

    async def until(self, look: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        """Ask `look` after each piece of news until it says yes; False when the time is over."""
        deadline = asyncio.get_running_loop().time() + seconds
        async with self.listen(without=MASSES) as listener:
            while not await look():
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0:
                    return False
                try:
                    await asyncio.wait_for(listener.messages.get(), timeout=min(left, LOOK_AGAIN))
                except TimeoutError:
                    continue
                while not listener.messages.empty():
                    listener.messages.get_nowait()
        return True

    def sessions(self) -> frozenset[str]:
        """The sign-ins that streams are open for."""
        return frozenset(each.session for each in self._listeners if each.session)

    def end(self, *, session: str | None = None, person: str | None = None) -> None:
        """End the streams of a session or a person: signed out, or another role."""
        for listener in self._listeners:
            if listener.session == session or listener.person == person:
                listener.finish()

    def stop(self) -> None:
        """End every stream, so that the server can stop."""
        self._stopped = True
        for listener in self._listeners:
            listener.finish()


async def messages(listener: Listener, until: datetime) -> AsyncIterator[list[dict[str, Any]]]:
    """What the listener hears, in bundles, until it is ended or its session is over. An empty bundle: still there."""
    while (left := (until - now()).total_seconds()) > 0:
        try:
            bundle = [await asyncio.wait_for(listener.messages.get(), timeout=min(left, PING))]
        except TimeoutError:
            yield []
            continue
        while not listener.messages.empty():
            bundle.append(listener.messages.get_nowait())
        if END in bundle:
            return
        yield bundle
