"""The supervisor's own socket: JSON lines, one request and one answer. Only the installing user can reach it (mode 0600 in a folder of that user)."""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from infra.local import config
from infra.local.layout import Layout
from shared.errors import Transient

Verb = Callable[[], Awaitable[dict[str, Any]]]
ANSWER_SECONDS = 5.0


class ControlServer:
    def __init__(self, layout: Layout, verbs: Mapping[str, Verb]) -> None:
        self._path, self._verbs = layout.control, verbs
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, path=str(self._path))
        finally:
            os.umask(before)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            verb = self._verbs.get((await reader.readline()).decode().strip())
            answer = await verb() if verb else {"error": "unknown command"}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, UnicodeDecodeError):
            return
        finally:
            writer.close()


def ask(layout: Layout, verb: str) -> dict[str, Any]:
    """Transient (code not_running) when no supervisor answers on this state directory. In containers there is none: the parts are asked."""
    found = config.read(layout)
    if found is not None and found.containers:
        from infra.docker.status import answer  # noqa: PLC0415 - only there, and it needs the bus's client

        return answer(layout, found, verb)
    return ask_at(layout.control, verb)


def ask_at(path: Path, verb: str) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(ANSWER_SECONDS)
        try:
            client.connect(str(path))
            client.sendall(verb.encode() + b"\n")
            answer = client.makefile("rb").readline()
        except (FileNotFoundError, ConnectionError, TimeoutError):
            raise Transient(
                f"nothing is running in {path.parents[1]}; start it with `schleuse up`", code="not_running"
            ) from None
    if not answer:
        raise Transient(f"the supervisor of {path.parents[1]} is just stopping", code="not_running")
    found: dict[str, Any] = json.loads(answer)
    return found
