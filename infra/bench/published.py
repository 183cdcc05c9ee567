"""Pages on the site, brought there as all are: submitted, inspected, approved by the operator, entered in the gate's log."""

import asyncio
import os
import signal
import time
from pathlib import Path

from infra.bench.approvals import Waiting, submit
from infra.bench.http import Connection
from infra.bench.target import Say, Target, running_at
from shared.errors import Refused, Transient
from shared.operator import acall

PORTION = 500
PATIENCE = 300.0
_TICKS = os.sysconf("SC_CLK_TCK")


async def publish(target: Target, count: int, say: Say) -> list[Waiting]:
    """So many new pages, live."""
    found: list[Waiting] = []
    began = time.perf_counter()
    while len(found) < count:
        items = await submit(target, min(PORTION, count - len(found)))
        asked = {"items": [each.item_id for each in items], "verdict": "approve"}
        if refused := (await acall(target.layout.state, "console", "items.decide", asked, PATIENCE))["refused"]:
            raise Refused(f"approvals were refused: {refused[:3]}")
        found += items
        if len(found) % 10_000 == 0:
            say(f"{len(found)} of {count} pages published, {len(found) / (time.perf_counter() - began):.0f}/s")
    await _seen(target, found[-1].path)
    return found


async def restarted(target: Target, path: str) -> tuple[Target, float]:
    """The site was killed and is there again: the stack as it is now, and the seconds from the process's start to a first page."""
    [pid] = target.instances("site")
    os.kill(pid, signal.SIGKILL)
    seen = await _seen(target, path)
    while True:
        if again := await asyncio.to_thread(_again, target, pid):
            return again[0], seen - again[1]
        await asyncio.sleep(0.1)


def _again(target: Target, before: int) -> tuple[Target, float] | None:
    """The stack with another site in it, and since when (seconds of the wall clock)."""
    try:
        now = running_at(target.layout.state, own=target.own)
    except (Refused, Transient):
        return None
    [pid] = now.instances("site")
    return None if pid == before else (now, _began(pid))


def _began(pid: int) -> float:
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    return time.time() - (float(Path("/proc/uptime").read_text().split()[0]) - ticks / _TICKS)


async def _seen(target: Target, path: str) -> float:
    """When a page was answered with 200 (seconds of the wall clock)."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            async with Connection(target.site) as connection:
                if (await connection.get(path))[0] == 200:
                    return time.time()
        except OSError:
            pass
        await asyncio.sleep(0.01)
    raise Refused(f"{path} was not there within {PATIENCE:.0f} s")


async def until_found(target: Target, word: str) -> None:
    """The search index is filled behind the start; it knows this page, which was published last."""
    async with Connection(target.site) as connection:
        while True:
            await asyncio.sleep(0.1)
            if f"/{word}".encode() in (await connection.get(f"/search?q={word}"))[1]:
                return
