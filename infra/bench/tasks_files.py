"""How fast a file of 200 MB comes into a workspace and out again, and what memory that takes. At the agent itself: nginx would add its own."""

import asyncio
import json
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import quote

from infra.bench.agent_people import add_person
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.usage import rss_mb
from shared.errors import Refused
from shared.settings import Settings

TARGETS: Targets = (
    ("a file of 200 MB put in (MB/s)", ("upload_mb_per_s",), ">=", 100),
    ("the same fetched by its owner (MB/s)", ("download_mb_per_s",), ">=", 100),
    ("memory of the agent meanwhile (MB more)", ("transfer_rss_growth_mb",), "<=", 50),
)
SIZE, TIMES = 200 * 1000 * 1000, 5
PIECE = 1024 * 1024
LOOK = 0.02
"""Seconds between two looks at the agent's memory."""


async def measure_files(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"upload_mb_per_s", "download_mb_per_s": medians, "transfer_rss_growth_mb": the most that was seen}. MB are 10^6 bytes."""
    key = await asyncio.to_thread(add_person, target)
    times, bytes_ = max(2, round(TIMES * size)), max(20_000_000, round(SIZE * min(1.0, size)))
    ends = _Ends(target, key)
    with tempfile.TemporaryFile() as file:
        _fill(file, bytes_)
        await asyncio.to_thread(ends.put, file, 1_000_000)  # what the first request of its kind takes does not count
        say(f"{bytes_ // 1_000_000} MB in and out, {times} times")
        before = rss_mb(target.instances("agent"))
        up, down, most = await _both(target, ends, file, bytes_, times)
    return {
        "upload_mb_per_s": round(bytes_ / statistics.median(up) / 1e6, 1),
        "download_mb_per_s": round(bytes_ / statistics.median(down) / 1e6, 1),
        "transfer_rss_growth_mb": round(max(0.0, most - before), 1),
    }


async def _both(target: Target, ends: "_Ends", file: IO[bytes], size: int, times: int) -> tuple[list[float], list[float], float]:  # fmt: skip
    """Seconds of each way in and out, and the most memory in MB."""
    up: list[float] = []
    down: list[float] = []
    most, over = 0.0, False

    async def watch() -> None:
        nonlocal most
        while not over:
            most = max(most, rss_mb(target.instances("agent")))
            await asyncio.sleep(LOOK)

    watching = asyncio.create_task(watch())
    for _ in range(times):
        up.append(await asyncio.to_thread(ends.put, file, size))
        down.append(await asyncio.to_thread(ends.get, size))
    over = True
    await watching
    return up, down, most


class _Ends:
    """One person's two ends. Each request is a connection of its own."""

    def __init__(self, target: Target, key: str) -> None:
        settings = Settings.load("agent", target.layout.state)
        self._place, self._key = (settings.host, settings.port), key
        self._host = settings.url.split("//", 1)[1]

    def put(self, file: IO[bytes], size: int) -> float:
        """Seconds until the file has its name."""
        began = time.perf_counter()
        with self._asked("PUT", "/api/v1/files/content?how=replace&path=" + quote("uploads/bench.bin"), size) as sock:
            sock.sendfile(file, 0, size)
            _read(sock, lambda _: None, 201)
        return time.perf_counter() - began

    def get(self, size: int) -> float:
        """Seconds until all of it is here."""
        began, count = time.perf_counter(), 0

        def take(piece: memoryview) -> None:
            nonlocal count
            count += len(piece)

        with self._asked("GET", "/api/v1/files/content?path=" + quote("uploads/bench.bin"), 0) as sock:
            _read(sock, take, 200)
        if count != size:
            raise Refused(f"{count} bytes came back of {size}")
        return time.perf_counter() - began

    @contextmanager
    def _asked(self, method: str, path: str, length: int) -> Iterator[socket.socket]:
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {self._key}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"  # fmt: skip
        with socket.create_connection(self._place, timeout=60) as sock:
            sock.sendall(head.encode())
            yield sock


def _read(sock: socket.socket, take: Callable[[memoryview], None], wanted: int) -> None:
    """The answer's body, piece by piece. Refused when it has another status."""
    buffer = memoryview(bytearray(PIECE))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = sock.recv(65536)
        if not piece:
            break
        head += piece
    said, _, rest = head.partition(b"\r\n\r\n")
    if int(said.split()[1]) != wanted:
        raise Refused(f"the agent answered {said.split(b' ', 1)[1][:60]!r}: {json.dumps(rest[:300].decode('utf-8', 'replace'))}")  # fmt: skip
    take(memoryview(rest))
    while count := sock.recv_into(buffer):
        take(buffer[:count])


def _fill(file: IO[bytes], size: int) -> None:
    """What no disk packs smaller."""
    for start in range(0, size, PIECE):
        file.write(os.urandom(min(PIECE, size - start)))
    file.flush()
