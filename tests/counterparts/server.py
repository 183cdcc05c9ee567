"""A small HTTP/1.1 server that writes its answers byte by byte, so that they can be wrong, too."""

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Handler = Callable[["Seen", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Seen:
    """One request as it came. Header names in lower case."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        return next((value for found, value in self.headers if found == name), "")


@dataclass
class Counterpart:
    """`seen`: every request, in order; `broken_off`: how often a client went away in the middle of an answer."""

    port: int
    seen: list[Seen] = field(default_factory=list)
    broken_off: int = 0

    @property
    def key(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.key}"

    def paths(self) -> list[str]:
        return [each.path for each in self.seen]


def head(status: int, *headers: tuple[str, str], reason: str = "Said") -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(status: int, body: bytes = b"", *headers: tuple[str, str]) -> bytes:
    """An answer with its length; the connection stays open."""
    return head(status, ("Content-Length", str(len(body))), *headers) + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"


@contextmanager
def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> Iterator[Counterpart]:
    """In a thread of its own: whoever asks may be another process, or a test that waits."""
    ready, found, ended = threading.Event(), Counterpart(0), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    writers: set[asyncio.StreamWriter] = set()
    tasks: set[asyncio.Task[None]] = set()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if ended.is_set():
            writer.transport.abort()
            return
        writers.add(writer)
        task = asyncio.get_running_loop().create_task(_connection(found, handler, reader, writer))
        tasks.add(task)
        task.add_done_callback(lambda _: (tasks.discard(task), writers.discard(writer)))

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        server = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=tls)
        found.port = server.sockets[0].getsockname()[1]
        ready.set()
        await ended.wait()
        await asyncio.sleep(0.02)  # whoever was let in just now: a server that is closed leaves its connection lying
        server.close()
        for task in tuple(tasks):
            task.cancel()
        for writer in tuple(writers):  # one whose task had not begun, too
            writer.transport.abort()
        async with asyncio.timeout(2):
            while server._active_count:  # type: ignore[attr-defined]  # one in the middle of its TLS handshake, too
                await asyncio.sleep(0.005)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)  # what is open then is cancelled
    thread.start()
    assert ready.wait(10)
    try:
        yield found
    finally:
        loops[0].call_soon_threadsafe(ended.set)
        thread.join(10)


async def _connection(
    found: Counterpart, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        while (seen := await _request(reader)) is not None:
            found.seen.append(seen)
            await handler(seen, writer)
            await writer.drain()
            if writer.is_closing():
                break
    except (ConnectionError, asyncio.IncompleteReadError, ValueError):
        found.broken_off += 1
    except asyncio.CancelledError:
        pass  # the server stops
    finally:
        writer.close()
        with suppress(Exception, asyncio.CancelledError):
            await writer.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = tuple((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    return Seen(method, path, headers, await _body(reader, dict(headers)))


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    found = b""
    while size := int(await reader.readline(), 16):
        found += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return found
