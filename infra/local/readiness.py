"""Whether a part answers: Postgres and NATS in their own protocols, services over HTTP on their health socket."""

import asyncio
import json
import ssl
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.05
ANSWER_SECONDS = 3.0
STARTING_UP = b"57P0"
"""The SQLSTATE class with which a server says that it starts, stops or recovers."""

Probe = Callable[[], Awaitable[bool]]


async def postgres(socket_dir: Path) -> bool:
    """True when the server takes connections. Asks to log in as nobody in particular: being refused by the rules is an answer, too."""
    text = b"user\0schleuse-probe\0database\0postgres\0\0"
    packet = struct.pack("!ii", len(text) + 8, 196608) + text
    answer = await _exchange(socket_dir / ".s.PGSQL.5432", packet, 64)
    return bool(answer) and not (answer[:1] == b"E" and STARTING_UP in answer)


async def postgres_listens(socket_dir: Path) -> bool:
    """Asks whether it speaks TLS: any answer will do, and the server does not log it."""
    return await _exchange(socket_dir / ".s.PGSQL.5432", struct.pack("!ii", 8, 80877103), 1) in (b"N", b"S")


async def nats(port: int) -> bool:
    """True when the server greets, after the handshake. Whether it is the right one is for those to check who tell it something."""
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=anybody)
            try:
                return (await reader.read(5)).startswith(b"INFO")
            finally:
                writer.transport.abort()  # a polite TLS goodbye could outlive the probe's loop
    except (OSError, TimeoutError):
        return False


async def nothing_to_ask() -> bool:
    """NATS logs every greeting that is not followed by TLS as an error, and its own end is seen at once anyway."""
    return True


async def service(health_socket: Path) -> bool:
    status, _ = await ask(health_socket, "/ready")
    return status == 200


async def figures(health_socket: Path) -> dict[str, Any]:
    """What the service says about itself; empty when it does not answer."""
    status, body = await ask(health_socket, "/health")
    if not status:
        return {}
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def ask(health_socket: Path, path: str) -> tuple[int, bytes]:
    """(HTTP status, body); status 0 when nobody answers."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    answer = await _exchange(health_socket, request, 1024**2)
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = head.split(b" ", 2)
    if len(fields) < 2 or not fields[1].isdigit():
        return 0, b""
    if b"transfer-encoding: chunked" in head.lower():
        body = _unchunked(body)
    return int(fields[1]), body


async def until(probe: Probe, seconds: float) -> bool:
    """Poll until it answers yes; False when the time is over."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not await probe():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


async def _exchange(path: Path, request: bytes, most: int) -> bytes:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_unix_connection(str(path))
            try:
                writer.write(request)
                await writer.drain()
                return await (reader.read(most) if most < 1024 else _read_all(reader, most))
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return b""


async def _read_all(reader: asyncio.StreamReader, most: int) -> bytes:
    found = b""
    while len(found) < most and (part := await reader.read(65536)):
        found += part
    return found


def _unchunked(body: bytes) -> bytes:
    found = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        if length == 0:
            break
        found, body = found + body[:length], body[length + 2 :]
    return found
