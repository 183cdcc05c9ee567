"""The asker: how agent, console and site have the connectors do something outside (S10). Values of secrets never come this way."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any
from uuid import UUID

import httpx2

from schemas.statements import Signed
from shared.asking.answer import Answer
from shared.asking.body import pieces, whole
from shared.asking.carrying import instruction_hash
from shared.asking.subjects import ask_subject
from shared.asking.transport import Manner, TunnelTransport
from shared.asking.wire import (
    ALIVE_EVERY,
    BODY,
    Ask,
    AuditAsk,
    Cancel,
    Frame,
    Message,
    More,
    Send,
    check_body,
    message,
    pack,
)
from shared.bus.asks import AskLine
from shared.bus.connection import Connection
from shared.errors import SchleuseError, Transient
from shared.ids import new_id
from shared.tasks import cancel as end_task
from shared.tasks import spawn
from shared.telemetry import current_traceparent

MOST_IN_ONE = 5000
"""Running asks that one word of being alive names; a message of the bus holds 1 MiB."""


class Asker:
    """Part of a service, started with its bus (`link.also`). One connection, any number of asks at once."""

    def __init__(self, service: str, connection: Connection) -> None:
        self._service = service
        self._line = AskLine(connection, service)
        self._running: dict[str, Answer] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._line.start(self._answered)
        self._task = spawn(self._stay_alive(), "asks")

    async def stop(self) -> None:
        """Running asks are given up: the connectors are told."""
        await end_task(self._task)
        for answer in tuple(self._running.values()):
            await self._give_up(answer)
            answer.fail(Transient(f"{self._service} stops", code="stopping"))

    async def call(
        self,
        connector: str,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        secret: str = "",
        delegation: Signed | None = None,
        wait_s: float = 0,
        quoted: str = "",
    ) -> Any:
        """The operation's result, as JSON. Typed errors say what to do.

        `secret`: the name of one, where there are several. `delegation`: to act for its owner. Where a person must decide first, it waits up
        to `wait_s` seconds; `quoted` is shown to them.
        """
        body = json.dumps(dict(arguments or {})).encode()
        ask = message(
            Ask, ask_id=new_id(), connector=connector, operation=operation, secret=secret, delegation=delegation,
            instruction_hash=instruction_hash.get() if delegation is not None else None, wait_s=wait_s,
            quoted=quoted, traceparent=current_traceparent(), body_bytes=len(body),
        )  # fmt: skip
        return await self._result("call", ask, body)

    def transport(
        self,
        connector: str,
        *,
        secret: str = "",
        delegation: Signed | None = None,
        wait_s: float = 0,
        quoted: str = "",
    ) -> httpx2.AsyncBaseTransport:
        """For `httpx2.AsyncClient(transport=…)`: every request goes through this connector. `https://<connector>.connector/…` stands for its
        declared base address; another host must be on its allow-list."""
        return TunnelTransport(self, Manner(connector, secret, delegation, wait_s, quoted))

    async def search_audit(self, query: Mapping[str, Any], *, delegation: Signed | None = None) -> Any:
        """The asker's own part of the call audit; for an owner, that owner's."""
        return await self._result("search_audit", AuditAsk(ask_id=new_id(), delegation=delegation, query=dict(query)))

    async def cancel(self, call_id: UUID) -> None:
        """End a call by its id in the audit, whoever of this service asked for it. The outside call is stopped."""
        await self._line.tell(ask_subject(self._service, "cancel"), pack(Cancel(call_id=call_id)))

    @asynccontextmanager
    async def answering(
        self, verb: str, ask: Ask | AuditAsk, body: AsyncIterable[bytes] | bytes = b""
    ) -> AsyncIterator[Answer]:
        """An ask from its first message to its end; what is left early is cancelled."""
        answer = await self.begin(verb, ask, body)
        try:
            yield answer
        finally:
            await self.end(answer)

    async def begin(self, verb: str, ask: Ask | AuditAsk, body: AsyncIterable[bytes] | bytes = b"") -> Answer:
        """Send it, body and all. Whoever begins also ends it."""
        answer = Answer(ask.ask_id, self._tell)
        name = ask.ask_id.hex
        self._running[name] = answer
        try:
            await self._send(verb, name, ask, body, answer)
        except BaseException:
            await self.end(answer)
            raise
        return answer

    async def end(self, answer: Answer) -> None:
        if self._running.pop(answer.ask_id.hex, None) is not None and not answer.over:
            await self._give_up(answer)

    async def _send(
        self, verb: str, name: str, ask: Ask | AuditAsk, body: AsyncIterable[bytes] | bytes, answer: Answer
    ) -> None:
        subject = ask_subject(self._service, verb)
        if isinstance(ask, AuditAsk):
            await self._line.ask(subject, name, pack(ask))
            return
        check_body(ask.body_bytes)
        async with aclosing(pieces(whole(body) if isinstance(body, bytes) else body)) as rest:
            first, more = await anext(rest)
            size = ask.body_bytes if more else len(first)
            await self._line.ask(subject, name, pack(ask.model_copy(update={"more": more, "body_bytes": size}), first))
            if more:
                await self._send_rest(answer, rest, len(first))

    async def _send_rest(self, answer: Answer, rest: AsyncIterator[tuple[bytes, bool]], sent: int) -> None:
        subject, number = ask_subject(self._service, "send"), 0
        async for piece, more in rest:
            if not await answer.room_for(sent):
                return
            number, sent = number + 1, sent + len(piece)
            check_body(sent)
            await self._line.tell(subject, pack(Send(ask_id=answer.ask_id, number=number, last=not more), piece))

    async def _result(self, verb: str, ask: Ask | AuditAsk, body: bytes = b"") -> Any:
        found: list[bytes] = []
        async with self.answering(verb, ask, body) as answer:
            async for frame in answer.frames():
                found += _content(frame)
        return json.loads(b"".join(found) or b"null")

    def _answered(self, name: str, raw: bytes | None) -> None:
        answer = self._running.get(name)
        if answer is not None:
            answer.arrive(raw)

    async def _tell(self, answer: Answer) -> None:
        await self._more({answer.ask_id: answer.taken})

    async def _more(self, taken: dict[UUID, int]) -> None:
        await self._line.tell(ask_subject(self._service, "more"), pack(More(taken=taken)))

    async def _give_up(self, answer: Answer) -> None:
        answer.over = True
        await self._quietly(ask_subject(self._service, "cancel"), Cancel(ask_id=answer.ask_id))

    async def _quietly(self, subject: str, message: Message) -> None:
        """One that is lost costs some seconds: the connectors end what nobody speaks for."""
        try:
            await self._line.tell(subject, pack(message))
        except SchleuseError:
            return

    async def _stay_alive(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_EVERY)
            live = [answer for answer in self._running.values() if not answer.over]
            for answer in live:
                answer.check_alive()
            for start in range(0, len(live), MOST_IN_ONE):
                part = {answer.ask_id: answer.taken for answer in live[start : start + MOST_IN_ONE]}
                await self._quietly(ask_subject(self._service, "more"), More(taken=part))


def _content(frame: Frame) -> list[bytes]:
    return [frame.payload] if frame.kind == BODY else []
