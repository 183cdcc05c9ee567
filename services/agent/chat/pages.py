"""The chat page. It reads and writes without JavaScript; chat.js makes it live."""

import asyncio
from contextlib import suppress
from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.front import Asked, Front
from services.agent.chat.reading import Reading, Shown
from services.agent.chat.tabs import Tabs
from services.agent.loop.domain import TurnRef
from services.agent.owners.domain import Me
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.identity.doors import go

A_MOMENT = 4.0
"""Seconds."""


class ChatPages:
    def __init__(self, front: Front, reading: Reading, tabs: Tabs) -> None:
        self._front, self._reading, self._tabs = front, reading, tabs
        self._chat = front.chat

    def routes(self) -> list[Route]:
        page, one = self._front.page, "/c/{conversation_id:uuid}"
        return [
            Route("/", page(self.new), methods=["GET"]),
            Route("/", page(self.send), methods=["POST"]),
            Route(one, page(self.conversation), methods=["GET"]),
            Route(one, page(self.send), methods=["POST"]),
            Route(one + "/title", page(self.rename), methods=["POST"]),
            Route(one + "/delete", page(self.delete), methods=["POST"]),
            Route(one + "/clear", page(self.clear), methods=["POST"]),
        ]

    async def new(self, asked: Asked) -> Response:
        return await self._show(asked, None)

    async def conversation(self, asked: Asked) -> Response:
        return await self._show(asked, _id(asked))

    async def send(self, asked: Asked) -> Response:
        """What could not be sent comes back in its field, with the reason."""
        conversation_id = asked.request.path_params.get("conversation_id")
        text = asked.form.get("message", "").replace("\r\n", "\n")
        try:
            self._front.check(asked)
            if asked.form.get("do") == "stop" and conversation_id:
                await self._chat.desk.stop_turn(asked.caller.me, conversation_id)
                return go(f"/c/{conversation_id}#end")
            caller = self._front.callers.settle(asked.caller)
            ref = await self._chat.desk.submit(caller.me, conversation_id, text)
        except (Refused, Conflict) as error:
            return await self._show(
                asked, conversation_id, status=error.status, notice=error.message, tone="stop", draft=text
            )
        self._tabs.follow(caller.me, self._chat.desk.wait(caller.me, ref.turn_id))
        await self._a_moment(caller.me, ref)
        return self._front.callers.remember(go(_place(ref)), caller)

    async def _a_moment(self, me: Me, ref: TurnRef) -> None:
        """Only a page without JavaScript comes by here: most answers are there when it is shown again, for the others it loads anew."""
        with suppress(TimeoutError, NotFound):
            async with asyncio.timeout(A_MOMENT):
                await self._chat.desk.wait(me, ref.turn_id)

    async def rename(self, asked: Asked) -> Response:
        return await self._change(
            asked, self._chat.conversations.rename(asked.caller.me, _id(asked), asked.form.get("title", ""))
        )

    async def clear(self, asked: Asked) -> Response:
        """The owner has looked at what the conversation read (S11). No tool can say so."""
        return await self._change(asked, self._chat.conversations.clear(asked.caller.me, _id(asked)))

    async def delete(self, asked: Asked) -> Response:
        return await self._change(asked, self._chat.conversations.delete(asked.caller.me, _id(asked)), "/conversations")

    async def _change(self, asked: Asked, act: Any, then: str = "") -> Response:
        try:
            self._front.check(asked)
        except Forbidden:
            act.close()
            raise
        try:
            await act
        except (Refused, Conflict) as error:
            return await self._show(asked, _id(asked), status=error.status, notice=error.message, tone="stop")
        self._tabs.tell(asked.caller.me)
        return go(then or f"/c/{_id(asked)}")

    async def _show(self, asked: Asked, conversation_id: UUID | None, *, status: int = 200, notice: str = "", tone: str = "", draft: str = "") -> Response:  # fmt: skip
        caller, query = asked.caller, asked.request.query_params
        before = _number(query.get("before", ""))
        shown = await self._reading.show(caller.me, conversation_id, before) if conversation_id else None
        return self._front.show(
            caller,
            "chat.html",
            status,
            here="chat",
            conversation=shown.conversation if shown else None,
            title=(shown.conversation.title if shown else "") or "New conversation",
            blocks=shown.blocks if shown else (),
            earlier=shown.earlier if shown else None,
            before=before,
            pending=_pending(query.get("turn", ""), shown),
            rows=await self._reading.rows(caller),
            meter=await self._reading.meter(caller.me, conversation_id),
            notice=notice,
            notice_tone=tone,
            draft=draft,
        )


def _id(asked: Asked) -> UUID:
    found: UUID = asked.request.path_params["conversation_id"]
    return found


def _place(ref: TurnRef) -> str:
    return f"/c/{ref.conversation_id}?turn={ref.turn_id}#end"


def _number(text: str) -> int | None:
    """The message before which one wants to read; nonsense means the newest."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 16 and int(text) > 1 else None


def _pending(text: str, shown: Shown | None) -> UUID | None:
    """The turn that was just asked for, while it has no answer."""
    try:
        turn = UUID(text)
    except ValueError:
        return None
    return turn if shown is not None and turn not in shown.answered else None
