"""From sending a decision to what a visitor gets: over the operator's socket in, over HTTP out."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from infra.bench.http import Connection
from infra.bench.target import Target
from shared.errors import Refused
from shared.operator import acall

LOOK_AGAIN = 0.002
"""Seconds between two looks at a page: often enough to measure, seldom enough not to fill the site."""
PATIENCE = 60.0
LISTS = ("/", "/feed.xml", "/sitemap.xml")
_TEXT = """# Measured page {name}

A page of the benchmark: {name} is its only word that no other page has. It has a [link](other), a list and some text.

- one
- two

> Nothing of this is worth reading.
"""


@dataclass(frozen=True)
class Waiting:
    """An item in the queue. `word` stands in no other page."""

    item_id: str
    path: str
    word: str


async def submit(target: Target, count: int) -> list[Waiting]:
    """New pages, each inspected and queued."""
    words = [f"bench{uuid4().hex[:12]}" for _ in range(count)]
    items = [{"kind": "page", "lang": "en", "path": word, "text": _TEXT.format(name=word)} for word in words]
    answer = await _ask(target, "items.submit", {"items": items})
    if answer["refused"] or len(answer["items"]) != count:
        raise Refused(f"the lock did not queue the pages of the benchmark: {answer['refused'][:3]}")
    return [Waiting(each["item_id"], f"/page/en/{each['path']}", each["path"]) for each in answer["items"]]


async def approve_each(target: Target, items: Sequence[Waiting], enough: asyncio.Event | None = None) -> list[float]:
    """Milliseconds from sending an approval to a 200, one item after the other; stops early when it is `enough`."""
    took = []
    async with Connection(target.site) as connection:
        for item in items:
            if enough is not None and enough.is_set():
                break
            took.append(await _approve(target, connection, item))
    return took


async def _approve(target: Target, connection: Connection, item: Waiting) -> float:
    began = time.perf_counter()
    asked = asyncio.create_task(_ask(target, "items.decide", {"items": [item.item_id], "verdict": "approve"}))
    while (await connection.get(item.path))[0] != 200:
        _still_hopeful(began, f"{item.path} did not become visible")
        await asyncio.sleep(LOOK_AGAIN)
    took = (time.perf_counter() - began) * 1000
    if (answer := await asked)["refused"]:
        raise Refused(f"an approval was refused: {answer['refused']}")
    return took


async def withdraw_each(target: Target, items: Sequence[Waiting]) -> list[float]:
    """Milliseconds from sending a withdrawal until page, index, feed, sitemap and search know nothing of it."""
    async with Connection(target.site) as connection:
        return [await _withdraw(target, connection, item) for item in items]


async def _withdraw(target: Target, connection: Connection, item: Waiting) -> float:
    began = time.perf_counter()
    asked = asyncio.create_task(_ask(target, "items.withdraw", {"item": item.item_id, "reason": "measured"}))
    while (await connection.get(item.path))[0] == 200:
        _still_hopeful(began, f"{item.path} did not go")
        await asyncio.sleep(LOOK_AGAIN)
    for where in (*LISTS, f"/search?q={item.word}"):
        while item.path.encode() in (await connection.get(where))[1]:
            _still_hopeful(began, f"{item.path} did not go from {where}")
            await asyncio.sleep(LOOK_AGAIN)
    took = (time.perf_counter() - began) * 1000
    if (answer := await asked)["refused"]:
        raise Refused(f"a withdrawal was refused: {answer['refused']}")
    return took


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that at least this share of all do not pass."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _still_hopeful(began: float, fault: str) -> None:
    if time.perf_counter() - began > PATIENCE:
        raise Refused(f"{fault} within {PATIENCE:.0f} s")


async def _ask(target: Target, verb: str, args: dict[str, Any]) -> dict[str, Any]:
    return await acall(target.layout.state, "console", verb, args, PATIENCE)
