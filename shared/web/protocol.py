"""HTTP/1.1 as uvicorn speaks it, with limits for those who would hold a connection or fill the memory with a request's head."""

import asyncio
from collections.abc import Collection

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 64 * 1024
"""Bytes of a request's first line and headers; beyond, the answer is 400. (One read more may have come in until then.)"""
HEAD_SECONDS = 20.0
BODY_SECONDS, SLOWEST = 120.0, 64 * 1024
"""How long a body may take: that, and a second for each `SLOWEST` bytes that have come."""
MOST_CONNECTIONS = 8192
SWEEP = 5.0
"""Seconds between two looks for late ones."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. `asked_at` is when the request that is still coming in began; None while none is."""

    asked_at: float | None = None
    _in_head = True
    _head = _body = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.asked_at = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > MAX_HEAD and not self.transport.is_closing():
                self.send_400_response(f"The head of a request has at most {MAX_HEAD} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.asked_at = self.loop.time()
        self._in_head, self._head, self._body = True, 0, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.asked_at = None
        super().on_message_complete()

    def end_if_late(self) -> None:
        """Close when a head takes longer than 20 s, or a body longer than 2 min and is slow."""
        if self.asked_at is not None:
            limit = HEAD_SECONDS if self._in_head else BODY_SECONDS + self._body / SLOWEST
            if self.loop.time() - self.asked_at > limit:
                self.transport.abort()


async def sweep(connections: Collection[object]) -> None:
    """Close those who are late, for ever."""
    while True:
        await asyncio.sleep(SWEEP)
        for each in list(connections):
            if isinstance(each, BoundedProtocol):
                each.end_if_late()
