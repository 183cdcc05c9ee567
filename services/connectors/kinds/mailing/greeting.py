"""Whether a mail server answers: its greeting, in the open or over TLS. Nobody signs in."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress

from services.connectors.egress.way import Way
from services.connectors.kinds.mailing.failures import explain
from shared.errors import SchleuseError

CHECK_S, FIRST_WORD_S = 10.0, 1.0
GREETINGS = (b"* OK", b"* PREAUTH", b"220")


async def look_at_any(way: Way, keys: Sequence[str]) -> str:
    """Empty when one of them answers, else what is wrong with the first."""
    faults = await asyncio.gather(*(look(way, each) for each in keys))
    return "" if "" in faults else faults[0]


async def look(way: Way, key: str) -> str:
    """Empty, or why not. `key`: `host:port`. Who says nothing at first is waiting for TLS."""
    host, _, port = key.rpartition(":")
    try:
        async with asyncio.timeout(CHECK_S):
            word = await _greeting(way, host.strip("[]"), int(port))
    except SchleuseError as error:
        return error.message
    except (OSError, TimeoutError, ValueError) as error:
        return explain(error, key).message
    return "" if word.startswith(GREETINGS) else f"{key} does not greet as a mail server does; check its port"


async def _greeting(way: Way, host: str, port: int) -> bytes:
    sock = await way.dial(host, port)
    with suppress(TimeoutError):
        return await _first_line(sock, None, way)
    return await _first_line(await way.dial(host, port), host, way)


async def _first_line(sock: socket.socket, name: str | None, way: Way) -> bytes:
    reader, writer = await asyncio.open_connection(
        sock=sock, ssl=way.tls() if name else None, server_hostname=name, limit=4096
    )
    try:
        async with asyncio.timeout(None if name else FIRST_WORD_S):
            return await reader.readline()
    finally:
        writer.transport.abort()
