"""The process: `python -m services.console.analytics.engine --folder DIR` with chDB, or `--url URL --password-file FILE` with a server.

It ends when its standard input does: whoever started it is gone. One process owns a folder; a second one says so and ends.
"""

import argparse
import asyncio
import fcntl
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from services.console.analytics.engine.store import Copy
from services.console.analytics.engine.wire import LONGEST_BODY, LONGEST_LINE, READY, line

TAKEN = 3
DATA = "data-1"
MEMORY = 3 * 1024**3
"""Bytes for one question."""


class Engine:
    """One request after the other, whoever asks."""

    def __init__(self, copy: Copy, faults: type[Exception]) -> None:
        self._copy, self._faults = copy, faults
        self._turn = asyncio.Lock()
        self._does: dict[str, Callable[[dict[str, Any], bytes], dict[str, Any]]] = {
            "begin": lambda asked, _: {"known": copy.begin(str(asked["generation"]))},
            "put": self._put,
            "empty": self._empty,
            "merge": self._merge,
            "ask": lambda asked, _: copy.ask(str(asked["sql"]), dict(asked["values"])),
            "count": lambda _asked, _: {"rows": copy.count()},
        }

    def _empty(self, asked: dict[str, Any], _: bytes) -> dict[str, Any]:
        self._copy.empty(str(asked["source"]))
        return {}

    def _merge(self, _: dict[str, Any], __: bytes) -> dict[str, Any]:
        self._copy.merge()
        return {}

    def _put(self, asked: dict[str, Any], body: bytes) -> dict[str, Any]:
        self._copy.put(str(asked["source"]), asked["chunks"], asked["afresh"], body)
        return {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while raw := await reader.readline():
                asked = json.loads(raw)
                body = await reader.readexactly(min(int(asked.get("bytes", 0)), LONGEST_BODY))
                async with self._turn:
                    answer = await asyncio.to_thread(self._answer, asked, body)
                writer.write(line(answer))
                await writer.drain()
        writer.close()

    def _answer(self, asked: dict[str, Any], body: bytes) -> dict[str, Any]:
        try:
            return self._does[asked["do"]](asked, body)
        except self._faults as error:  # anything else ends the process, and the next question starts it anew
            return {"error": f"{type(error).__name__}: {str(error)[:2000]}"}


def client_of(given: argparse.Namespace) -> Any:
    """Of clickhouse-connect, which is installed by `make analytics`."""
    driver = import_module("clickhouse_connect")
    if given.url:
        place = urlsplit(given.url)
        password = given.password_file.read_text().strip() if given.password_file.exists() else ""
        return driver.get_client(
            host=place.hostname,
            port=place.port or (8443 if place.scheme == "https" else 8123),
            secure=place.scheme == "https",
            username=place.username or "default",
            password=password,
            database=place.path.strip("/") or "default",
        )
    return driver.get_client(interface="chdb", path=str(given.folder / DATA), settings={"max_memory_usage": MEMORY})


async def run(given: argparse.Namespace) -> int:
    os.umask(0o077)
    (given.folder / DATA).mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(given.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return TAKEN
    faults = import_module("clickhouse_connect.driver.exceptions").Error
    engine = Engine(Copy(client_of(given)), faults)
    socket = given.folder / "engine.sock"
    socket.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(engine.serve, str(socket), limit=LONGEST_LINE)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    async with server:
        await asyncio.to_thread(sys.stdin.buffer.read)
        socket.unlink(missing_ok=True)
        os._exit(0)  # not after a question that hangs: nobody waits for it any more


def main() -> None:
    parser = argparse.ArgumentParser(prog="services.console.analytics.engine")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--url", default="")
    parser.add_argument("--password-file", type=Path, default=Path("/nonexistent"))
    code = asyncio.run(run(parser.parse_args()))
    sys.stdout.flush()
    os._exit(code)  # threads of the engine, and of a question that nobody waits for any more


if __name__ == "__main__":
    main()
