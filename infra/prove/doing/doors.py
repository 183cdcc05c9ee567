"""Ways in that the bus must not have, and false servers that a service must not believe: {"door"}."""

import asyncio
import secrets
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nats
import nkeys
from nats.errors import Error as NatsError

from infra.nats import certificate
from shared.bus.connection import Connection, pinned
from shared.health import Health
from shared.settings import Settings

PATIENCE = 3.0
DOORS = ("nobody", "a name and a password", "a stranger's key", "a client without TLS", "a client of TLS 1.2")
FALSE_SERVERS = ("a server without TLS", "a server with another certificate")


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    settings = Settings.load("site", state)
    return [
        await (
            _false_server(settings, each["door"]) if each["door"] in FALSE_SERVERS else _door(settings, each["door"])
        )
        for each in attempts
    ]


async def _door(settings: Settings, door: str) -> dict[str, Any]:
    if door == "a client without TLS":
        return await _in_the_clear(settings)
    trust = pinned(settings)
    options: dict[str, Any] = {}
    if door == "a name and a password":
        options = {"user": "site", "password": "site"}
    elif door == "a stranger's key":
        options = {"nkeys_seed_str": nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER).decode()}
    elif door == "a client of TLS 1.2":
        trust.minimum_version, trust.maximum_version = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2
        options = {"nkeys_seed": str(settings.bus_seed)}
    return await _connect(settings, trust, options)


async def _connect(settings: Settings, trust: ssl.SSLContext, options: dict[str, Any]) -> dict[str, Any]:
    async def silent(_: Exception) -> None:
        return

    try:
        client = await nats.connect(
            settings.nats_urls, tls=trust, tls_hostname="localhost", tls_handshake_first=True, allow_reconnect=False, connect_timeout=PATIENCE, error_cb=silent, **options
        )  # fmt: skip
    except (NatsError, ssl.SSLError, ConnectionError, TimeoutError) as error:
        return {"got": "refused", "detail": type(error).__name__}
    await client.close()
    return {"got": "done"}


async def _in_the_clear(settings: Settings) -> dict[str, Any]:
    """CONNECT without a handshake: the server must hang up without a word."""
    place = urlsplit(settings.nats_urls[0])
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(b'CONNECT {"verbose":false,"pedantic":false,"tls_required":false}\r\nPING\r\n')
        async with asyncio.timeout(PATIENCE):
            said = await reader.read()
    except (ConnectionError, TimeoutError):
        said = b""
    finally:
        writer.close()
    return {"got": "done" if b"INFO" in said or b"PONG" in said else "refused"}


async def _false_server(settings: Settings, door: str) -> dict[str, Any]:
    """Our own client meets a server that is not ours: it must not say who it is."""
    heard = bytearray()
    async with _listening(heard, tls=door == "a server with another certificate") as port:
        lured = settings.model_copy(update={"ports": {**settings.ports, "nats": port}, "nats_servers": ()})
        connection = Connection(lured, Health("site"))
        try:
            async with asyncio.timeout(1.0):
                await connection.start()
        except TimeoutError:
            pass
        finally:
            await connection.stop()
    return {"got": "done" if connection.connected or b"CONNECT" in heard else "refused"}


@asynccontextmanager
async def _listening(heard: bytearray, *, tls: bool) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonce = secrets.token_hex(8)
        writer.write(
            f'INFO {{"server_id":"F","version":"2.15.1","proto":1,"max_payload":1048576,"nonce":"{nonce}","tls_required":{str(tls).lower()}}}\r\n'.encode()
        )
        try:
            await writer.drain()
            if tls:
                await writer.start_tls(_stranger())
            while data := await reader.readline():
                heard.extend(data)
                if data.startswith(b"PING"):
                    writer.write(b"PONG\r\n")
        except (OSError, ssl.SSLError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def _stranger() -> ssl.SSLContext:
    public, private = certificate.make()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(private + public)
        file.flush()
        context.load_cert_chain(file.name)
    return context
