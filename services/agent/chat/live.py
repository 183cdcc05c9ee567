"""The live stream of an open page: GET /live?c=CONVERSATION&after=TURN.NUMBER. A page that lost it goes on where it was (Last-Event-ID)."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.callers import Caller, Callers, turn_and_number
from services.agent.chat.reading import Reading
from services.agent.chat.rendering import Templates
from services.agent.chat.stream import NEWS, After, Streams, answer, event, joined, number_of
from services.agent.loop.domain import Happening
from services.agent.notifications.kept import Notifications, Watch
from services.agent.notifications.telling import told_news
from shared.clock import now
from shared.errors import NotFound, Unauthorized
from shared.markup import plain_text


class Live:
    def __init__(
        self, callers: Callers, reading: Reading, streams: Streams, templates: Templates, notifications: Notifications
    ) -> None:
        self._callers, self._reading, self._streams, self._templates = callers, reading, streams, templates
        self._notifications = notifications

    def routes(self) -> list[Route]:
        return [Route("/live", self.listen, methods=["GET"])]

    async def listen(self, request: Request) -> Response:
        caller = await self._callers.find(request)
        if caller.is_nobody:
            raise Unauthorized("Nobody is here yet: say something first.", code="nobody")
        conversation_id = _uuid(request.query_params.get("c", ""))
        after = turn_and_number(request.headers.get("last-event-id") or request.query_params.get("after", ""))
        if conversation_id is not None:
            await self._reading.is_theirs(caller.me, conversation_id)
        return answer(self._events(request, caller, conversation_id, after))

    async def _events(self, request: Request, caller: Caller, conversation_id: UUID | None, after: After) -> AsyncIterator[bytes]:  # fmt: skip
        yield b"retry: 1000\n\n"
        yield event("here", {})
        if conversation_id is not None and after is not None:
            for each in await self._missed(caller, conversation_id, after):
                yield each
        with self._notifications.open(caller.me) as watch:
            async with aclosing(self._streams.hear(request, caller, conversation_id, after, watch)) as heard:  # type: ignore[type-var]
                async for bundle in heard:
                    for each in await self._heard(caller, conversation_id, watch, bundle):
                        yield each
        yield event("end", {})

    async def _heard(
        self, caller: Caller, conversation_id: UUID | None, watch: Watch, bundle: list[Happening] | str | None
    ) -> list[bytes]:
        if bundle is None:  # what somebody forgot to tell is found now and then
            return [*await self._news(watch), b": here\n\n"]
        if bundle == NEWS:
            return await self._news(watch)
        if isinstance(bundle, str):
            return [await self._list(caller, conversation_id)]
        return await self._told(caller, bundle)

    async def _news(self, watch: Watch) -> list[bytes]:
        news = await self._notifications.news(watch)
        return [] if news is None else [event("notifications", told_news(news, watch.me.zone, now()))]

    async def _missed(self, caller: Caller, conversation_id: UUID, after: After) -> list[bytes]:
        """A turn that ended while nobody of this page listened; it may be too long ago to be remembered otherwise."""
        assert after is not None
        if not await self._reading.is_answered(caller.me, conversation_id, after[0]):
            return []
        return [await self._turn(caller, conversation_id, after[0], ""), await self._meter(caller, conversation_id)]

    async def _told(self, caller: Caller, bundle: list[Happening]) -> list[bytes]:
        out = joined([each for each in bundle if each.kind != "cost"], _shown)
        last = [each for each in bundle if each.is_last]
        for each in last:
            out.append(await self._turn(caller, each.conversation_id, each.turn_id, number_of(each), each.kind))
        if last or any(each.kind == "cost" for each in bundle):
            out.append(await self._meter(caller, bundle[-1].conversation_id))
        if last:
            out.append(await self._list(caller, bundle[-1].conversation_id))
        return out

    async def _turn(
        self, caller: Caller, conversation_id: UUID, turn_id: UUID, number: str, kind: str = "done"
    ) -> bytes:
        """All of a turn that is over, as it is kept."""
        blocks, tainted = await self._reading.turn(caller.me, conversation_id, turn_id)
        html = self._templates.macro("blocks")(blocks)
        said = " ".join(plain_text(what) for block in blocks for part, what in block.parts if part == "reply")
        told = {"turn": str(turn_id), "html": html, "said": said[:2000], "as": kind, "tainted": tainted[-5:]}
        return event("turn", told, number)

    async def _meter(self, caller: Caller, conversation_id: UUID) -> bytes:
        meter = await self._reading.meter(caller.me, conversation_id)
        return event("meter", {"html": self._templates.macro("meter")(meter)})

    async def _list(self, caller: Caller, conversation_id: UUID | None) -> bytes:
        """The side list, with the title of the open conversation; and whether it is still there."""
        rows = await self._reading.rows(caller)
        mine = [row for row in rows if row.conversation_id == conversation_id]
        gone = bool(conversation_id) and not mine and not await self._is_there(caller, conversation_id)
        title = mine[0].title if mine else ""
        return event(
            "list", {"html": self._templates.macro("side")(rows, conversation_id), "title": title, "gone": gone}
        )

    async def _is_there(self, caller: Caller, conversation_id: UUID | None) -> bool:
        try:
            assert conversation_id is not None
            await self._reading.is_theirs(caller.me, conversation_id)
        except NotFound:
            return False
        return True


def _shown(happening: Happening) -> dict[str, Any]:
    names = ("text", "before", "call_id", "tool", "calls", "error")
    return {"turn": str(happening.turn_id), **{name: happening.data[name] for name in names if name in happening.data}}


def _uuid(text: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("There is no such conversation.", code="conversation") from None
