"""How fast a registered download of 200 MB is fetched by its link from the agent itself, and how long eight at once wait for the first byte."""

import asyncio
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from infra.bench.agent_people import add_person
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.usage import rss_mb
from shared.errors import Refused
from shared.settings import Settings

TARGETS: Targets = (
    ("a link of 200 MB fetched (MB/s)", ("link_mb_per_s",), ">=", 100),
    ("memory of the agent for eight links at once (MB more)", ("links_rss_growth_mb",), "<=", 50),
)
SIZE, TIMES, AT_ONCE = 200 * 1000 * 1000, 5, 8
PIECE = 1024 * 1024
NAME = "bench-link.bin"


async def measure_downloads(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"link_mb_per_s": median, one at a time, "links_rss_growth_mb": after eight at once}. MB are 10^6 bytes."""
    there = _There(target, await asyncio.to_thread(add_person, target))
    times, bytes_ = max(2, round(TIMES * size)), max(20_000_000, round(SIZE * min(1.0, size)))
    path = await asyncio.to_thread(there.register, bytes_)
    say(f"{bytes_ // 1_000_000} MB by a link, {times} times, then {AT_ONCE} at once")
    seconds = [await asyncio.to_thread(there.fetch, path, bytes_) for _ in range(times)]
    before = rss_mb(target.instances("agent"))
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running = [asyncio.get_running_loop().run_in_executor(threads, there.fetch, path, bytes_) for _ in range(AT_ONCE)]  # fmt: skip
        most = 0.0
        while not all(each.done() for each in running):
            most = max(most, rss_mb(target.instances("agent")))
            await asyncio.sleep(0.02)
        await asyncio.gather(*running)
    return {
        "link_mb_per_s": round(bytes_ / statistics.median(seconds) / 1e6, 1),
        "links_rss_growth_mb": round(max(0.0, most - before), 1),
    }


class _There:
    """The agent, as one person's program meets it."""

    def __init__(self, target: Target, key: str) -> None:
        settings = Settings.load("agent", target.layout.state)
        self._place = settings.host, settings.port
        self._headers = {"Host": settings.url.split("//", 1)[1], "Authorization": f"Bearer {key}"}

    def register(self, size: int) -> str:
        """A file of so many bytes, and the address of a link to it."""
        self._asked("PUT", f"/api/v1/files/content?how=replace&path={NAME}", bytes(size), {})
        said = self._asked("POST", "/api/v1/downloads", json.dumps({"path": NAME}).encode(), {"Content-Type": "application/json"})  # fmt: skip
        return urlsplit(str(json.loads(said)["url"])).path

    def fetch(self, path: str, size: int) -> float:
        """Seconds until all of it is here."""
        began, count, buffer = time.perf_counter(), 0, memoryview(bytearray(PIECE))
        connection = HTTPConnection(*self._place, timeout=120)
        connection.request("GET", path, headers=self._headers)
        with connection.getresponse() as answer:
            while got := answer.readinto(buffer):
                count += got
        connection.close()
        if count != size:
            raise Refused(f"{count} bytes came of {size}")
        return time.perf_counter() - began

    def _asked(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        connection = HTTPConnection(*self._place, timeout=120)
        connection.request(method, path, body, self._headers | headers)
        with connection.getresponse() as answer:
            said = answer.read()
        connection.close()
        if answer.status != 201:
            raise Refused(f"the agent answered {answer.status}: {said[:300].decode(errors='replace')}")
        return said
