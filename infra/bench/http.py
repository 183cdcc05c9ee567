"""The smallest HTTP client that measures: one kept connection, no more work a request than the socket needs."""

import asyncio
from types import TracebackType
from typing import Any, Self

ANSWER_SECONDS = 30.0


class Connection:
    """Keep-alive requests one after another. ConnectionError when the server hangs up. `tls` is for asyncio.open_connection."""

    def __init__(self, place: tuple[str, int], **tls: Any) -> None:
        self._place, self._tls = place, tls
        self._host = f"{place[0]}:{place[1]}".encode()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(*self._place, **self._tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    def request(self, path: str, headers: bytes = b"") -> bytes:
        return b"GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (path.encode(), self._host, headers)

    async def get(self, path: str) -> tuple[int, bytes]:
        """(status, body)."""
        return await self.send(self.request(path))

    async def post(self, path: str, body: bytes, token: str) -> tuple[int, bytes]:
        head = b"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
        return await self.send(head % (path.encode(), self._host, token.encode(), len(body)) + body)

    async def send(self, request: bytes) -> tuple[int, bytes]:
        assert self._reader is not None and self._writer is not None, "enter the connection first"
        self._writer.write(request)
        async with asyncio.timeout(ANSWER_SECONDS):
            head = await self._reader.readuntil(b"\r\n\r\n")
            return int(head[9:12]), await self._body(head.lower())

    async def _body(self, head: bytes) -> bytes:
        assert self._reader is not None
        at = head.find(b"\r\ncontent-length:")
        if at >= 0:
            return await self._reader.readexactly(int(head[at + 17 : head.index(b"\r", at + 17)]))
        if b"\r\ntransfer-encoding: chunked" not in head:
            return b""
        body = b""
        while size := int(await self._reader.readline(), 16):
            body += await self._reader.readexactly(size)
            await self._reader.readline()
        await self._reader.readline()
        return body
