"""Signals through the site's own door for access logs."""

import asyncio
import json
from uuid import uuid4

from infra.bench.http import Connection
from infra.bench.target import Target
from shared.clock import now
from shared.errors import Refused
from shared.operator import acall

PATHS = 50
"""Different pages that are viewed: the console counts by page and day."""


def bodies(count: int, per_request: int, per_event: int) -> list[bytes]:
    """Requests that hold `count` page views, each with an id of its own."""
    at = now().isoformat()
    return [
        json.dumps({"batch": [_line(number, at) for number in range(start, min(start + per_request, count))],
                    "per_event": per_event}).encode()
        for start in range(0, count, per_request)
    ]  # fmt: skip


def _line(number: int, at: str) -> dict[str, str]:
    return {
        "id": str(uuid4()),
        "path": f"/bench/de/page-{number % PATHS}",
        "at": at,
        "address": f"10.0.{number % 200}.7",
    }


async def send(target: Target, requests: list[bytes]) -> None:
    """One after another: the answer says that the signals are durable at the site."""
    async with Connection(target.site) as connection:
        for body in requests:
            status, said = await connection.post("/signals/ingest", body, target.ingest_token)
            if status != 200:
                raise Refused(f"the site did not take signals: {status} {said[:200]!r}")


async def views(target: Target) -> int:
    """Page views that the console has counted."""
    return int((await acall(target.layout.state, "console", "signals.totals"))["view"])


async def counted(target: Target, goal: int, seconds: float) -> None:
    """Wait until the console has counted `goal` page views. Refused when they do not come in time."""
    try:
        async with asyncio.timeout(seconds):
            while await views(target) < goal:  # noqa: ASYNC110 - another process counts
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise Refused(f"{goal - await views(target)} signals did not arrive within {seconds:.0f} s") from None


async def steady(target: Target, per_second: int, stopping: asyncio.Event) -> int:
    """Signals at this rate in micro-batches, ten requests a second, until told to stop; how many were sent."""
    clock = asyncio.get_running_loop().time
    began, sent, each = clock(), 0, per_second // 10
    async with Connection(target.site) as connection:
        while not stopping.is_set():
            [body] = bodies(each, each, 100)
            status, said = await connection.post("/signals/ingest", body, target.ingest_token)
            if status != 200:
                raise Refused(f"the site did not take signals: {status} {said[:200]!r}")
            sent += each
            await asyncio.sleep(max(0.0, began + sent / per_second - clock()))
    return sent
