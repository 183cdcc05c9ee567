"""One running ask as its asker sees it: what came, how much of it was read, and how much of the body may be sent."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from uuid import UUID

from shared.asking.wire import BODY, BODY_WINDOW, CREDIT, END, ERROR, GONE_AFTER, KEEP, WINDOW, Frame, read_frame
from shared.errors import SchleuseError, Transient, from_wire

TELL_AFTER = WINDOW // 4
"""Bytes that were read before the connectors are told."""
Tell = Callable[["Answer"], Awaitable[None]]


def _nobody() -> SchleuseError:
    found = Transient(
        "the connectors are not there to answer; `schleuse status` says why, a start is `schleuse up`",
        code="connectors_away",
    )
    found.nothing_left = True
    return found


def lost() -> SchleuseError:
    return Transient(
        "the answer was lost on its way: the connection broke or the connectors ended. Whether the call was made the audit says.",
        code="answer_lost",
    )


class Answer:
    """Frames as they arrive. `taken` counts the bytes that were read; `over`: nothing more will come."""

    def __init__(self, ask_id: UUID, tell: Tell) -> None:
        self.ask_id = ask_id
        self.taken = 0
        self.over = False
        self._tell, self._told = tell, 0
        self._frames: asyncio.Queue[Frame | SchleuseError] = asyncio.Queue()
        self._next = 0
        self._heard_at = asyncio.get_running_loop().time()
        self._room = 0
        self._news = asyncio.Event()

    def arrive(self, raw: bytes | None) -> None:
        """A message for this ask. None: nobody answers."""
        self._heard_at = asyncio.get_running_loop().time()
        if self.over:
            return
        if raw is None:
            self.fail(_nobody())
            return
        frame = read_frame(raw)
        if frame.kind == KEEP:
            return
        if frame.kind == CREDIT:
            self._room = max(self._room, int(frame.payload) + BODY_WINDOW)
            self._news.set()
            return
        if frame.number != self._next:
            self.fail(lost())
            return
        self._next += 1
        self._put(frame)
        self.over = frame.kind in (END, ERROR)

    def check_alive(self) -> None:
        """Called now and then: a silence for too long ends it."""
        if not self.over and asyncio.get_running_loop().time() - self._heard_at > GONE_AFTER:
            self.fail(lost())

    async def room_for(self, sent: int) -> bool:
        """Wait until the body may go on after `sent` bytes; False when the answer has begun: nobody wants the rest."""
        while self._frames.empty() and sent >= self._room:
            self._news.clear()
            await self._news.wait()
        return self._frames.empty()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """HEAD (of an exchange), BODY…, then END. The typed error that ended it is raised."""
        while True:
            found = await self._frames.get()
            if isinstance(found, SchleuseError):
                raise found
            if found.kind == ERROR:
                said = found.json()
                nothing_left = said.get("begun") is False
                raise from_wire(said["status"], said["code"], said["message"], nothing_left=nothing_left)
            yield found
            if found.kind == END:
                return
            if found.kind == BODY:
                await self._count(len(found.payload))

    async def _count(self, size: int) -> None:
        self.taken += size
        if self.taken - self._told >= TELL_AFTER and not self.over:
            self._told = self.taken
            await self._tell(self)

    def fail(self, error: SchleuseError) -> None:
        """Nothing more will come: whoever reads gets this."""
        self._put(error)
        self.over = True

    def _put(self, found: Frame | SchleuseError) -> None:
        self._frames.put_nowait(found)
        self._news.set()
