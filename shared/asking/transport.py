"""Any Python HTTP library that takes an `httpx2` transport, through a connector: exchanges travel over the bus, answers are streamed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2

from schemas.statements import Signed
from shared.asking.answer import Answer
from shared.asking.carrying import instruction_hash
from shared.asking.wire import BODY, HEAD, Frame, HttpAsk, message
from shared.errors import BY_CODE_STATUS, Refused, SchleuseError
from shared.ids import new_id
from shared.telemetry import current_traceparent


@dataclass(frozen=True)
class Manner:
    """Through which connector, with which secret, for whom, and how long it may wait for a person."""

    connector: str
    secret: str = ""
    delegation: Signed | None = None
    wait_s: float = 0
    quoted: str = ""


class Asks(Protocol):
    async def begin(self, verb: str, ask: HttpAsk, body: Any) -> Answer: ...
    async def end(self, answer: Answer) -> None: ...


class TunnelTransport(httpx2.AsyncBaseTransport):
    """Raises what shared.errors says; each of these is an `httpx2.TransportError` too, for libraries that know only those."""

    def __init__(self, asker: Asks, manner: Manner) -> None:
        self._asker, self._manner = asker, manner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        patience = request.extensions.get("timeout", {}).get("read")
        answer = None
        try:
            ask = self._ask(request)
            answer = await self._asker.begin("http", ask, request.stream)
            frames = answer.frames()
            head = await _within(patience, anext(frames))
            if head.kind != HEAD:
                raise Refused("the connector's answer has no head", code="malformed")
        except BaseException as error:
            if answer is not None:
                await self._asker.end(answer)
            if isinstance(error, SchleuseError):
                raise tunnelled(error) from None
            raise
        said = head.json()
        return httpx2.Response(
            status_code=said["status"],
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in said["headers"]],
            stream=_Stream(self._asker, answer, frames, patience),
            extensions={"http_version": b"HTTP/1.1", "call_id": said["call_id"]},
        )

    def _ask(self, request: httpx2.Request) -> HttpAsk:
        manner, length = self._manner, request.headers.get("content-length", "")
        return message(
            HttpAsk, ask_id=new_id(), connector=manner.connector, secret=manner.secret, delegation=manner.delegation,
            instruction_hash=instruction_hash.get() if manner.delegation is not None else None, wait_s=manner.wait_s, quoted=manner.quoted, traceparent=current_traceparent(), method=request.method.upper(),
            url=str(request.url), headers=tuple((n.decode("latin-1").lower(), v.decode("latin-1")) for n, v in request.headers.raw),
            body_bytes=int(length) if length.isdigit() else None,
        )  # fmt: skip


class _Stream(httpx2.AsyncByteStream):
    """The answer's body as it comes. Closed early, the outside call is stopped."""

    def __init__(
        self, asker: Asks, answer: Answer, frames: AsyncGenerator[Frame, None], patience: float | None
    ) -> None:
        self._asker, self._answer, self._frames, self._patience = asker, answer, frames, patience

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self._frames):
                while (frame := await _within(self._patience, anext(self._frames))).kind == BODY:
                    yield frame.payload
        except SchleuseError as error:
            raise tunnelled(error) from None

    async def aclose(self) -> None:
        await self._asker.end(self._answer)


async def _within(patience: float | None, coming: Any) -> Frame:
    try:
        async with asyncio.timeout(patience):
            found: Frame = await coming
            return found
    except TimeoutError:
        raise httpx2.ReadTimeout(f"nothing came through the connector within {patience} s") from None


def tunnelled(error: SchleuseError) -> SchleuseError:
    """The same error as a transport's error."""
    made: SchleuseError = _TUNNELLED.get(type(error), _TUNNELLED[SchleuseError])(error.message, code=error.code)
    made.nothing_left = error.nothing_left
    return made


_KINDS: tuple[type[SchleuseError], ...] = (SchleuseError, *BY_CODE_STATUS.values())
_TUNNELLED: dict[type[SchleuseError], Any] = {
    kind: type(f"Tunnelled{kind.__name__}", (kind, httpx2.TransportError), {}) for kind in _KINDS
}
