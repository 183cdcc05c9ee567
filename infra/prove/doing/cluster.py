"""Ways into a cluster: {"join", "ports"} as a server among the bus's own, {"listen": "address:port"} beside a service on the port its instances share."""

import asyncio
import json
import secrets
import socket
import ssl
import tempfile
from pathlib import Path
from typing import Any

from infra.nats import certificate

PATIENCE = 2.0
JOINS = ("without TLS", "with no certificate", "with a certificate of its own")
CONNECT = {"verbose": False, "pedantic": False, "tls_required": True, "name": "probe", "cluster": "schleuse"}


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        _listen(each["listen"]) if "listen" in each else await _join(state, each["join"], each["port"])
        for each in attempts
    ]


async def _join(state: Path, how: str, port: int) -> dict[str, Any]:
    """`done` when the server speaks to us as to one of its own: it answers CONNECT and PING."""
    try:
        async with asyncio.timeout(PATIENCE):
            said = await _speak(state, how, port)
    except (OSError, ssl.SSLError, TimeoutError) as error:
        return {"got": "refused", "detail": type(error).__name__}
    return {
        "got": "done" if b"PONG" in said or b"RS+" in said else "refused",
        "detail": said[:80].decode(errors="replace"),
    }


async def _speak(state: Path, how: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await reader.readline()  # who it is, which every server tells everybody
        if how != "without TLS":
            await writer.start_tls(_context(state, how), server_hostname=certificate.SERVER_NAME)
        about = CONNECT | {"server_id": f"N{secrets.token_hex(27).upper()}"}
        writer.write(f"INFO {json.dumps(about)}\r\nCONNECT {json.dumps(about)}\r\nPING\r\n".encode())
        await writer.drain()
        return await reader.read(65536) + await reader.read(65536)
    finally:
        writer.close()


def _context(state: Path, how: str) -> ssl.SSLContext:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_verify_locations(state / "tls" / "ca.pem")
    if how == "with a certificate of its own":
        public, private = certificate.make()
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(private + public)
            file.flush()
            trust.load_cert_chain(file.name)
    return trust


def _listen(place: str) -> dict[str, Any]:
    """`done` when the kernel would deal connections out to us, too."""
    host, port = place.rsplit(":", 1)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except OSError as error:
            return {"got": "refused", "detail": error.strerror}
    return {"got": "done"}
