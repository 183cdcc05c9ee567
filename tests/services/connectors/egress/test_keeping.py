"""Connections that calls share: one connector's only, for some seconds, and every call says where it went."""

import asyncio
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx2
import pytest

from services.connectors.egress import keeping
from services.connectors.egress.door import Door
from services.connectors.egress.keeping import Kept
from services.connectors.egress.way import Way
from shared.settings import Settings
from tests.counterparts.certificates import authority

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def ask(way: Way, url: str) -> None:
    transport = way.http()
    try:
        answer = await transport.handle_async_request(httpx2.Request("GET", url))
        assert await answer.aread() == b"ok"
    finally:
        await transport.aclose()


async def test_calls_share_a_connection_until_names_are_due_to_be_resolved_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "KEPT_S", 0.8)
    opened, closed = [0], asyncio.Queue[None]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened[0] += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            closed.put_nowait(None)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    door = Door(cast(Settings, SimpleNamespace(dns_servers=(), outward_ca=None)), Kept())
    hosts, other, url = (f"127.0.0.1:{port}",), (f"127.0.0.1:{port}", "example.com:443"), f"http://127.0.0.1:{port}/"

    for _ in range(3):
        way = door.way(hosts, ("127.0.0.1",))
        await ask(way, url)
        assert way.reached == (f"127.0.0.1:{port} [127.0.0.1]",)
    assert opened[0] == 1
    await ask(door.way(other, ("127.0.0.1",)), url)
    assert opened[0] == 2, "another list of hosts, another connection"
    async with asyncio.timeout(5):
        for _ in range(2):
            await closed.get()
    await ask(door.way(hosts, ("127.0.0.1",)), url)
    assert opened[0] == 3, "what was resolved is not believed for long"
    async with asyncio.timeout(5):
        await closed.get()
    server.close()


@pytest.mark.parametrize(
    "said",
    [
        ANSWER + b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged",
    ],
)
@pytest.mark.parametrize("secure", [False, True])
async def test_what_came_after_an_answer_is_never_the_next_calls_answer(
    said: bytes, secure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call may be of another owner: each would get the answer to the one before it."""
    monkeypatch.setattr(keeping, "KEPT_S", 0.4)
    answers, closed = [said, ANSWER], asyncio.Queue[None]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(answers.pop(0))
        writer.close()
        closed.put_nowait(None)

    tls, settings = None, SimpleNamespace(dns_servers=(), outward_ca=None)
    if secure:
        found = authority(tmp_path)
        tls, settings.outward_ca = found.context("localhost"), found.file
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    door = Door(cast(Settings, settings), Kept())
    for _ in range(2):
        way = door.way((f"localhost:{port}",), ("127.0.0.1", "::1"))
        await ask(way, f"http{'s' * secure}://localhost:{port}/")
    async with asyncio.timeout(5):
        for _ in range(2):
            await closed.get()
    server.close()
