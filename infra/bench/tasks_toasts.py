"""How long after its time a reminder's toast is at an open page: from the promised second to the bytes at the other end of the live stream."""

import asyncio
import json
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any

import httpx2

from infra.bench.agent_people import add_person
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from shared.clock import now
from shared.errors import Refused
from shared.settings import Settings

TARGETS: Targets = (("a reminder's toast after its time, p99 (ms)", ("toast_delay_ms", "p99"), "<=", 1000),)
REMINDERS, A_SECOND, PAGES = 300, 10, 3
"""Reminders of one person, how many of them come in one second, and how many of their pages are open."""
AHEAD = timedelta(seconds=20)
"""Until the first: all of them are made by then, on a slow machine too."""
LATEST = 30.0
"""Seconds after the last time for which is waited."""


@dataclass
class _Page:
    """An open page. `came`: the wall clock's seconds at which each reminder's toast was there, by its title; `whole` once there are so many."""

    number: int
    open: asyncio.Event = field(default_factory=asyncio.Event)
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    came: dict[str, float] = field(default_factory=dict)
    again: int = 0

    async def listen(self, http: httpx2.AsyncClient) -> None:
        async with http.stream("GET", "/live") as answer, aclosing(answer.aiter_lines()) as lines:  # type: ignore[type-var]
            kind = ""
            async for line in lines:
                at = time.time()
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: ") and kind == "notifications":
                    self._hear(json.loads(line.removeprefix("data: ")), at)

    def _hear(self, said: dict[str, Any], at: float) -> None:
        self.open.set()
        for each in said["fresh"]:
            self.again += each["title"] in self.came
            self.came.setdefault(each["title"], at)
        if len(self.came) >= self.number:
            self.whole.set()


async def measure_toasts(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"toast_delay_ms": {"p50", "p99", "most"}, "toasts": how many, at all pages, "toasts_lost", "toasts_twice"}."""
    key, settings = await asyncio.to_thread(add_person, target), Settings.load("agent", target.layout.state)
    number = max(A_SECOND, round(REMINDERS * size))
    head = {"Authorization": f"Bearer {key}", "Host": settings.url.split("//", 1)[1]}
    base = f"http://{settings.host}:{settings.port}"
    say(f"{number} reminders, {A_SECOND} in a second, at {PAGES} open pages")
    async with httpx2.AsyncClient(base_url=base, headers=head, timeout=60, trust_env=False) as http:
        pages = [_Page(number) for _ in range(PAGES)]
        streams = [asyncio.create_task(page.listen(http)) for page in pages]
        try:
            for page in pages:
                async with asyncio.timeout(60):
                    await page.open.wait()
            due = await _remind(http, number)
            await _until(pages, due)
        finally:
            for stream in streams:
                stream.cancel()
            await asyncio.gather(*streams, return_exceptions=True)
    return _figures(pages, due)


async def _remind(http: httpx2.AsyncClient, number: int) -> dict[str, float]:
    """Title -> its second. Refused when the first was over before the last was made."""
    first = now().replace(microsecond=0) + AHEAD
    due = {f"{each}": first + timedelta(seconds=each // A_SECOND) for each in range(number)}
    for title, at in due.items():
        body = {"when": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "text": "x", "title": title}
        answer = await http.post("/api/v1/tasks", json=body)
        if answer.status_code != 201:
            raise Refused(f"the agent took no reminder: {answer.status_code} {answer.text[:200]}")
    if now() >= first:
        raise Refused("this machine is too slow: reminders were due before all of them were made")
    return {title: at.timestamp() for title, at in due.items()}


async def _until(pages: list[_Page], due: dict[str, float]) -> None:
    """All are there, or are given up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(max(due.values()) - now().timestamp() + LATEST):
            await asyncio.gather(*(page.whole.wait() for page in pages))


def _figures(pages: list[_Page], due: dict[str, float]) -> dict[str, Any]:
    delays = sorted((at - due[title]) * 1000 for page in pages for title, at in page.came.items())
    if not delays:
        raise Refused("no toast came at all")
    lost = sum(len(due.keys() - page.came.keys()) for page in pages)
    told = {"p50": delays[len(delays) // 2], "p99": delays[round((len(delays) - 1) * 0.99)], "most": delays[-1]}
    return {
        "toast_delay_ms": {name: round(each, 1) for name, each in told.items()},
        "toasts": len(delays),
        "toasts_lost": lost,
        "toasts_twice": sum(page.again for page in pages),
    }
