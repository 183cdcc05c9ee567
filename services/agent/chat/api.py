"""The agent's HTTP API: OpenAPI at /api/v1/openapi.json, keys as `Authorization: Bearer schleuse_ak_…`, the same use cases as the pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from services.agent.chat.api_bodies import (
    Conversation,
    Found,
    Message,
    NewTitle,
    NewTurn,
    NewZone,
    Turn,
    Whoami,
    Zone,
    conversation_of,
    message_of,
    spending_of,
    turn_of,
)
from services.agent.chat.callers import HEADER, Caller, Callers, turn_and_number
from services.agent.chat.parts import Chat
from services.agent.chat.reading import Reading
from services.agent.chat.stream import After, Streams, answer, event, joined
from services.agent.chat.tabs import Tabs
from services.agent.conversations.domain import TurnRecord
from services.agent.loop.domain import Happening, TurnRef
from services.agent.owners.domain import Me
from shared.errors import Conflict, NotFound

PATIENCE = 25.0
"""Seconds that a request waits for an answer (rule 31); then it is told where to come back to."""


class Api:
    """Endpoints. The owner is whoever the key, the session or the guest's cookie names; an id of somebody else's is like none (rule 24)."""

    def __init__(self, chat: Chat, callers: Callers, reading: Reading, streams: Streams, tabs: Tabs) -> None:
        self._chat, self._callers, self._reading = chat, callers, reading
        self._streams, self._tabs = streams, tabs

    async def changing(self, request: Request) -> Caller:
        """Who wants to change something. Forbidden without the token, where a cookie or a browser is."""
        caller = await self._callers.find(request)
        self._callers.check(request, caller, request.headers.get(HEADER, ""))
        return caller

    async def who(self, request: Request, token: str | None) -> Me:
        """For other parts' routes."""
        caller = await self._callers.find(request)
        if token is not None:
            self._callers.check(request, caller, token)
        return caller.me

    async def me(self, request: Request) -> Whoami:
        caller = await self._callers.find(request)
        me = caller.me
        standing = await self._chat.purse.standing(me.account)
        known = {"kind": me.owner.kind, "name": me.name, "role": me.role, "zone": me.zone, "token": caller.token}
        return Whoami.model_validate(known | {"spending": spending_of(standing)})

    async def zone(self, request: Request, new: NewZone) -> Zone:
        caller = await self.changing(request)
        me, notice = await self._chat.door.keep_zone(caller.me, new.zone)
        if caller.visit is not None:
            caller.visit.zone = me.zone
        return Zone(zone=me.zone, notice=notice)

    async def conversations(self, request: Request, limit: int) -> list[Conversation]:
        caller = await self._callers.find(request)
        if caller.is_nobody:
            return []
        found = await self._chat.conversations.list(caller.me, limit)
        costs = await self._reading.costs(caller.me, [each.conversation_id for each in found])
        return [conversation_of(each, costs.get(each.conversation_id, Decimal(0))) for each in found]

    async def conversation(self, request: Request, conversation_id: UUID) -> Conversation:
        me = (await self._callers.find(request)).me
        found = await self._chat.conversations.open(me, conversation_id)
        return conversation_of(
            found, (await self._reading.costs(me, [conversation_id])).get(conversation_id, Decimal(0))
        )

    async def messages(self, request: Request, conversation_id: UUID, before: int | None, limit: int) -> list[Message]:
        me = (await self._callers.find(request)).me
        return [
            message_of(each) for each in await self._chat.conversations.messages(me, conversation_id, before, limit)
        ]

    async def rename(self, request: Request, conversation_id: UUID, new: NewTitle) -> Conversation:
        me = (await self.changing(request)).me
        await self._chat.conversations.rename(me, conversation_id, new.title)
        self._tabs.tell(me)
        return await self.conversation(request, conversation_id)

    async def delete(self, request: Request, conversation_id: UUID) -> None:
        me = (await self.changing(request)).me
        await self._chat.conversations.delete(me, conversation_id)
        self._tabs.tell(me)

    async def clear(self, request: Request, conversation_id: UUID) -> None:
        me = (await self.changing(request)).me
        await self._chat.conversations.clear(me, conversation_id)
        self._tabs.tell(me)

    async def stop(self, request: Request, conversation_id: UUID) -> None:
        await self._chat.desk.stop_turn((await self.changing(request)).me, conversation_id)

    async def search(self, request: Request, q: str, limit: int) -> list[Found]:
        caller = await self._callers.find(request)
        found = () if caller.is_nobody else await self._chat.conversations.search(caller.me, q, limit)
        return [Found(conversation_id=c.conversation_id, title=c.title, message=message_of(m)) for c, m in found]

    async def leave(self, request: Request) -> None:
        caller = await self.changing(request)
        if caller.visit is None:
            raise NotFound("There is no visit that could end: only a guest's does.", code="visit")
        self._chat.visits.end(caller.visit)

    async def turn(self, request: Request, new: NewTurn) -> Response:
        """As a stream (`Accept: text/event-stream`) the turn is its asker's: when they hang up, it stops (rule 2)."""
        caller = await self._in_zone(self._callers.settle(await self.changing(request)), new.zone)
        streamed = "text/event-stream" in request.headers.get("accept", "")
        ref = await self._chat.desk.submit(caller.me, new.conversation_id, new.text, tied=streamed)
        self._tabs.follow(caller.me, self._chat.desk.wait(caller.me, ref.turn_id))
        if streamed:
            return self._callers.remember(answer(self._one_turn(request, caller, ref)), caller)
        record = await self._within(caller.me, ref) if new.wait else None
        return self._callers.remember(_told(_turn(ref, record, caller), 202 if record is None else 200), caller)

    async def _in_zone(self, caller: Caller, zone: str) -> Caller:
        """A visit that begins now has no zone yet, and its first message may name a time."""
        if not zone or not caller.new_cookie or caller.visit is None:
            return caller
        me, _ = await self._chat.door.keep_zone(caller.me, zone)
        caller.visit.zone = me.zone
        return replace(caller, me=me)

    async def turn_by_id(self, request: Request, turn_id: UUID, wait: bool) -> Turn:
        me = (await self._callers.find(request)).me
        try:
            async with asyncio.timeout(PATIENCE if wait else 0.05):
                return turn_of(await self._chat.desk.wait(me, turn_id))
        except TimeoutError:
            raise Conflict("This turn is not over yet.", code="running") from None

    async def events(self, request: Request, conversation_id: UUID) -> Response:
        caller = await self._callers.find(request)
        await self._reading.is_theirs(caller.me, conversation_id)
        after = turn_and_number(request.headers.get("last-event-id", ""))
        return answer(self._all(request, caller, conversation_id, after))

    async def _within(self, me: Me, ref: TurnRef) -> TurnRecord | None:
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._chat.desk.wait(me, ref.turn_id)
        except TimeoutError:
            return None

    async def _one_turn(self, request: Request, caller: Caller, ref: TurnRef) -> AsyncIterator[bytes]:
        yield event("accepted", _turn(ref, None, caller).model_dump(mode="json"))
        async with aclosing(self._all(request, caller, ref.conversation_id, (ref.turn_id, 0), ref.turn_id)) as heard:  # type: ignore[type-var]
            async for each in heard:
                yield each

    async def _all(self, request: Request, caller: Caller, conversation_id: UUID, after: After, only: UUID | None = None) -> AsyncIterator[bytes]:  # fmt: skip
        async with aclosing(self._streams.hear(request, caller, conversation_id, after)) as heard:  # type: ignore[type-var]
            async for bundle in heard:
                if bundle is None:
                    yield b": here\n\n"
                elif not isinstance(bundle, str):
                    mine = [each for each in bundle if only in (None, each.turn_id)]
                    for line in joined(mine, _data):
                        yield line
                    if only is not None and any(each.is_last for each in mine):
                        return


def _data(happening: Happening) -> dict[str, Any]:
    return {"turn": str(happening.turn_id), **happening.data}


def _turn(ref: TurnRef, record: TurnRecord | None, caller: Caller) -> Turn:
    token = caller.token if caller.new_cookie else ""
    if record is None:
        known = {"turn_id": ref.turn_id, "conversation_id": ref.conversation_id, "before": ref.before}
        return Turn.model_validate(known | {"state": "accepted", "token": token})
    return turn_of(record).model_copy(update={"before": ref.before, "token": token})


def _told(turn: Turn, status: int) -> Response:
    return JSONResponse(turn.model_dump(mode="json"), status)


def add_routes(app: FastAPI, api: Api) -> None:
    """Each address once, with what it is for."""
    conversation = "/v1/conversations/{conversation_id}"

    @app.get("/v1/me", summary="Who I am here, and what is left of my day")
    async def me(request: Request) -> Whoami:
        return await api.me(request)

    @app.put("/v1/me/zone", summary="My time zone")
    async def zone(request: Request, new: NewZone) -> Zone:
        return await api.zone(request, new)

    @app.delete("/v1/me/visit", status_code=204, summary="End a guest's visit; everything of it goes")
    async def leave(request: Request) -> None:
        await api.leave(request)

    @app.get("/v1/conversations", summary="My conversations, the one that changed last first")
    async def conversations(request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[Conversation]:
        return await api.conversations(request, limit)

    @app.get(conversation, summary="One conversation")
    async def one(request: Request, conversation_id: UUID) -> Conversation:
        return await api.conversation(request, conversation_id)

    @app.patch(conversation, summary="Call it something else")
    async def rename(request: Request, conversation_id: UUID, new: NewTitle) -> Conversation:
        return await api.rename(request, conversation_id, new)

    @app.delete(conversation, status_code=204, summary="Delete it with every message")
    async def delete(request: Request, conversation_id: UUID) -> None:
        await api.delete(request, conversation_id)

    @app.get(
        conversation + "/messages", summary="Its messages, oldest first: the newest ones, or those before a number"
    )
    async def messages(
        request: Request,
        conversation_id: UUID,
        before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    ) -> list[Message]:
        return await api.messages(request, conversation_id, before, limit)

    @app.get(
        conversation + "/events",
        summary="What happens in it, as server-sent events; goes on after Last-Event-ID",
        response_class=Response,
    )
    async def events(request: Request, conversation_id: UUID) -> Response:
        return await api.events(request, conversation_id)

    @app.post(conversation + "/stop", status_code=204, summary="Stop the answer that is being written")
    async def stop(request: Request, conversation_id: UUID) -> None:
        await api.stop(request, conversation_id)

    @app.post(
        conversation + "/clear", status_code=204, summary="I have looked at what it read; go on without asking (S11)"
    )
    async def clear(request: Request, conversation_id: UUID) -> None:
        await api.clear(request, conversation_id)

    @app.post(
        "/v1/turns",
        summary="Say something; the answer as JSON, or as a stream with `Accept: text/event-stream`",
        response_model=Turn,
        responses={202: {"model": Turn}},
    )
    async def turn(request: Request, new: NewTurn) -> Response:
        return await api.turn(request, new)

    @app.get("/v1/turns/{turn_id}", summary="What became of a turn of the last minute; a conflict while it runs")
    async def turn_by_id(request: Request, turn_id: UUID, wait: bool = False) -> Turn:
        return await api.turn_by_id(request, turn_id, wait)

    @app.get("/v1/search", summary="Messages of mine with all of these words")
    async def search(
        request: Request,
        q: Annotated[str, Query(max_length=2000)],
        limit: Annotated[int, Query(ge=1, le=200)] = 20,
    ) -> list[Found]:
        return await api.search(request, q, limit)
