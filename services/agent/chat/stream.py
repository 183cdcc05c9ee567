"""What an open page or program hears, as server-sent events, until whoever listens is gone, signed out, or the service stops."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any
from uuid import UUID

import structlog
from starlette.requests import Request
from starlette.responses import StreamingResponse

from services.agent.chat.callers import Caller
from services.agent.chat.parts import Chat
from services.agent.chat.tabs import Tabs
from services.agent.loop.domain import Happening
from services.agent.notifications.kept import Watch
from services.agent.owners.domain import Me
from shared.errors import SchleuseError, Unauthorized
from shared.identity.doors import PRIVATE

log = structlog.get_logger()
PING = 15.0
"""Seconds of silence after which a stream shows that it is alive."""
GONE = 3.0
"""Seconds after a guest's last page has closed: a reload is back by then. What they asked for then stops (rule 2)."""
HEADERS = {**PRIVATE, "X-Accel-Buffering": "no"}
LIST, NEWS, OVER = "list", "notifications", "over"
After = tuple[UUID, int] | None


def event(kind: str, data: Any, number: str = "") -> bytes:
    """One event on the wire. JSON has no line break, so text cannot begin a line of its own."""
    name = f"id: {number}\n" if number else ""
    return f"{name}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def number_of(happening: Happening) -> str:
    return f"{happening.turn_id}.{happening.number}"


def answer(events: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(_ending(events), media_type="text/event-stream", headers=HEADERS)


async def _ending(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What goes wrong once it has begun can only end it; whoever listens comes back and is told."""
    async with aclosing(events) as found:  # type: ignore[type-var]
        try:
            async for each in found:
                yield each
        except SchleuseError as error:
            log.info("stream.ended", code=error.code)


class Streams:
    """Opens what is listened to. A guest who has said nothing has nothing to listen to."""

    def __init__(self, chat: Chat, tabs: Tabs, closing: asyncio.Event) -> None:
        self._chat, self._tabs, self._closing = chat, tabs, closing

    async def hear(
        self, request: Request, caller: Caller, conversation_id: UUID | None, after: After, watch: Watch | None = None
    ) -> AsyncIterator[list[Happening] | str | None]:
        """Bundles of what happens; `list` when the list of conversations changed, `notifications` when `watch` is woken; None now and then, as a sign of
        life."""
        async with AsyncExitStack() as stack:
            over = await self._stay(stack, request, caller)
            changed = stack.enter_context(self._tabs.open(caller.me))
            found: asyncio.Queue[Happening | str] = asyncio.Queue()
            words = [(over, OVER), (self._closing, OVER), (changed, LIST)]
            words += [] if watch is None else [(watch.woken, NEWS)]
            tasks = [asyncio.create_task(_relay(each, found, word)) for each, word in words]
            if conversation_id is not None:
                tasks.append(asyncio.create_task(self._pump(caller, conversation_id, after, found)))
            stack.callback(_cancel, tasks)
            while True:
                try:
                    bundle = [await asyncio.wait_for(found.get(), PING)]
                except TimeoutError:
                    yield None
                    continue
                while not found.empty():
                    bundle.append(found.get_nowait())
                happenings = [each for each in bundle if isinstance(each, Happening)]
                if happenings:
                    yield happenings
                for word in (NEWS, LIST):
                    if word in bundle:
                        yield word
                if OVER in bundle:
                    return

    async def _stay(self, stack: AsyncExitStack, request: Request, caller: Caller) -> asyncio.Event:
        """What is set when the listener's time is over (S8)."""
        if caller.visit is not None:
            stack.callback(self._perhaps_gone, caller)
            stack.enter_context(self._chat.visits.watching(caller.visit))
            return asyncio.Event()
        visit = await stack.enter_async_context(self._chat.door.staying(request))
        if visit is None or visit.me.owner != caller.me.owner:
            raise Unauthorized("Nobody is signed in here.")
        return visit.over

    async def _pump(self, caller: Caller, conversation_id: UUID, after: After, found: "asyncio.Queue[Happening | str]") -> None:  # fmt: skip
        try:
            async with aclosing(self._chat.desk.watch(caller.me, conversation_id, after)) as stream:  # type: ignore[type-var]
                async for happening in stream:
                    found.put_nowait(happening)
        except SchleuseError:
            pass  # it is gone, or the database is away; the page comes back and is told
        found.put_nowait(OVER)

    def _perhaps_gone(self, caller: Caller) -> None:
        asyncio.get_running_loop().call_later(GONE, self._if_gone, caller.me)

    def _if_gone(self, me: Me) -> None:
        if not self._chat.visits.is_connected(me):
            self._chat.desk.leave(me)


async def _relay(event: asyncio.Event, found: "asyncio.Queue[Happening | str]", word: str) -> None:
    while True:
        await event.wait()
        found.put_nowait(word)
        if word == OVER:
            return
        event.clear()


def _cancel(tasks: "list[asyncio.Task[None]]") -> None:
    for task in tasks:
        task.cancel()


def joined(happenings: list[Happening], show: Callable[[Happening], Any]) -> list[bytes]:
    """Pieces of text that came together go out together."""
    out: list[bytes] = []
    texts: list[Happening] = []

    def flush() -> None:
        if texts:
            last = texts[-1]
            text = "".join(each.data["text"] for each in texts)
            out.append(event("text", {"turn": str(last.turn_id), "text": text}, number_of(last)))
            texts.clear()

    for each in happenings:
        if each.kind == "text" and (not texts or texts[-1].turn_id == each.turn_id):
            texts.append(each)
            continue
        flush()
        if each.kind == "text":
            texts.append(each)
        else:
            out.append(event(each.kind, show(each), number_of(each)))
    flush()
    return out
