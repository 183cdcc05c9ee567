"""What a server of ours does with requests that want its memory, its patience, or another host's name."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from shared.web import protocol
from shared.web.guard import Guard
from shared.web.serve import HttpServer

OURS = b"GET / HTTP/1.1\r\nHost: ours\r\n"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
async def door(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Path]:
    """A socket that answers `hello` to the host name `ours`, and looks for late ones often."""
    monkeypatch.setattr(protocol, "SWEEP", 0.05)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        server = HttpServer(Guard(hello, hosts={"ours"}, origin="http://ours", csp="default-src 'none'"), path=path)
        await server.start()
        yield path
        await server.stop()


async def answer(door: Path, *pieces: bytes) -> bytes:
    """All that comes back until the server closes; empty when it hangs up without a word."""
    reader, writer = await asyncio.open_unix_connection(str(door))
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_request_of_usual_size_is_answered(door: Path) -> None:
    head = OURS + b"Cookie: " + b"c" * 30_000 + b"\r\nConnection: close\r\n\r\n"
    assert (await answer(door, head)).endswith(b"hello")


async def test_a_head_without_end_is_cut_off_and_costs_no_memory(door: Path) -> None:
    said = await answer(door, OURS + b"X: ", *[b"a" * 100_000] * 50)
    assert said == b"" or b" 400 " in said.split(b"\r\n")[0]
    assert (await answer(door, OURS + b"Connection: close\r\n\r\n")).endswith(b"hello")


async def test_many_small_headers_are_a_long_head_too(door: Path) -> None:
    said = await answer(door, OURS, *[b"X-Y: z\r\n" * 1000] * 20)
    assert said == b"" or b" 400 " in said.split(b"\r\n")[0]


async def test_who_sends_a_head_slowly_is_hung_up_on(door: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.0)
    assert await answer(door, b"GET / HT") == b""


async def test_who_sends_nothing_is_hung_up_on(door: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.0)
    assert await answer(door) == b""


async def test_who_sends_a_body_slowly_is_hung_up_on(door: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.0)
    said = await answer(door, b"POST / HTTP/1.1\r\nHost: ours\r\nContent-Length: 9\r\n\r\nabc")
    assert b" 500 " not in said


async def test_a_crowd_is_not_let_in_whole(door: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    held = [await asyncio.open_unix_connection(str(door)) for _ in range(3)]
    assert await answer(door, OURS + b"Connection: close\r\n\r\n") == b""
    for _, writer in held:
        writer.close()


@pytest.mark.parametrize(
    "hosts", [b"", b"Host: evil\r\n", b"Host: evil\r\nHost: ours\r\n", b"Host: ours\r\nHost: ours\r\n"]
)
async def test_a_request_names_one_host_and_it_is_ours(door: Path, hosts: bytes) -> None:
    said = await answer(door, b"GET / HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
    assert b" 421 " in said.split(b"\r\n")[0]
