"""How many events, signals and cached pages a second."""

import asyncio
import time
from typing import Any, cast

from infra.bench import load
from infra.bench.approvals import Waiting
from infra.bench.http import Connection
from infra.bench.target import Target
from infra.bench.usage import Meter, cpu_seconds
from shared.errors import Refused

ARRIVE_SECONDS = 240.0
AT_ONCE = 32
"""Kept connections that ask for the cached page."""


async def through(target: Target, count: int, per_request: int, per_event: int) -> float:
    """Signals a second, site → lock → console, from the first request to the last one counted."""
    requests = load.bodies(count, per_request, per_event)
    before = await load.views(target)
    began = time.perf_counter()
    sending = asyncio.create_task(load.send(target, requests))
    try:
        await load.counted(target, before + count, ARRIVE_SECONDS)
        await sending
    finally:
        sending.cancel()
    return count / (time.perf_counter() - began)


async def cached_page(target: Target, item: Waiting, count: int) -> tuple[float, float]:
    """(requests per second of the site's CPU, requests a second by the clock)."""
    async with Connection(target.site) as connection:
        request = connection.request(item.path)
    share = count // AT_ONCE
    pids = target.instances("site")
    meter, cpu = Meter({}), cpu_seconds(pids)
    await asyncio.gather(*(ask_again(target.site, request, share) for _ in range(AT_ONCE)))
    spent = cpu_seconds(pids) - cpu
    return share * AT_ONCE / spent, share * AT_ONCE / meter.read().wall


async def ask_again(place: tuple[str, int], request: bytes, count: int, **tls: Any) -> None:
    """The same request over one kept connection. `tls`: `ssl` and `server_hostname`, where it is not in the clear."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    transport, _ = await loop.create_connection(lambda: _Asker(request, count, done), *place, **tls)
    try:
        async with asyncio.timeout(ARRIVE_SECONDS):
            await done
    finally:
        transport.close()


class _Asker(asyncio.Protocol):
    """Sends the next request as soon as an answer of the same length as the first has come."""

    def __init__(self, request: bytes, count: int, done: "asyncio.Future[None]") -> None:
        self._request, self._left, self._done = request, count, done
        self._transport: asyncio.Transport | None = None
        self._length = 0
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        if not self._length:
            self._length = _whole_length(self._got)
        if self._length and len(self._got) >= self._length:
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(ConnectionError(f"the site hung up: {error}"))

    def _next(self) -> None:
        if not self._got.startswith(b"HTTP/1.1 200"):
            self._done.set_exception(Refused(f"the cached page was answered with {self._got[:60]!r}"))
            return
        self._got = self._got[self._length :]
        self._left -= 1
        if self._left == 0:
            self._done.set_result(None)
        elif self._transport is not None:
            self._transport.write(self._request)


def _whole_length(answer: bytes) -> int:
    """Bytes of an answer with its head; 0 while the head is incomplete."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return 0
    at = answer.lower().index(b"\r\ncontent-length:") + 17
    return end + 4 + int(answer[at : answer.index(b"\r", at)])
