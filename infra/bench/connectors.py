"""Calls through the connectors beside the same calls made directly: what the way adds, how many a second it takes, and a stream's first chunk.

Every tunnelled call is a real one: asked over the bus with the agent's key, admitted, two entries of the audit on disk, out through the guard.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from infra.bench.approvals import percentile
from infra.bench.asking import NAME, allow, answerer, asker
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.usage import Meter

TARGETS: Targets = (
    ("added to a call at 50 a second, p50 (ms)", ("call_added_ms", "p50"), "<=", 3),
    ("the same, p99 (ms)", ("call_added_ms", "p99"), "<=", 12),
    ("calls with their entries on disk (/s)", ("calls_per_s",), ">=", 300),
    ("added to a stream's first chunk, p50 (ms)", ("stream_first_chunk_added_ms",), "<=", 5),
    ("raw: a direct call, p50 (ms)", ("raw", "call_direct_ms", "p50"), "", 0),
    ("raw: direct calls (/s)", ("raw", "calls_direct_per_s"), "", 0),
)
PER_SECOND = 50
AT_ONCE = 24
"""Askers at the same time where as many calls as possible are made."""
ThisCall = Callable[[], Awaitable[float]]
"""One call; the milliseconds that it took."""


@dataclass(frozen=True)
class Sizes:
    """How many calls a leg makes."""

    paced: int = 500
    fast: int = 4000
    streamed: int = 60

    def scaled(self, size: float) -> "Sizes":
        return Sizes(*(max(20, round(each * size)) for each in (self.paced, self.fast, self.streamed)))


async def measure_connectors(target: Target, runs: int, sizes: Sizes, say: Say) -> dict[str, Any]:
    """{"call_added_ms": {"p50", "p99"}, "calls_per_s", "stream_first_chunk_added_ms", "raw": …, "usage": …}; the best of `runs`."""
    async with answerer() as base, asker(target) as asking:
        await allow(target, asking, base)
        async with (
            httpx2.AsyncClient(trust_env=False) as direct,
            httpx2.AsyncClient(transport=asking.transport(NAME), trust_env=False, timeout=30) as tunnel,
        ):
            legs = _Legs(direct, base, tunnel, f"https://{NAME}.connector", sizes)
            found = []
            for run in range(runs):
                say(f"run {run + 1} of {runs}")
                found.append(await legs.run(Meter(target.services)))
    return _best(found)


class _Legs:
    def __init__(
        self, direct: httpx2.AsyncClient, base: str, tunnel: httpx2.AsyncClient, through: str, sizes: Sizes
    ) -> None:
        self._direct, self._base, self._tunnel, self._through, self._sizes = direct, base, tunnel, through, sizes

    async def run(self, meter: Meter) -> dict[str, Any]:
        directly, tunnelled = self._plain(self._direct, self._base), self._plain(self._tunnel, self._through)
        slow = await _paced((directly, tunnelled), self._sizes.paced)
        streams = await _paced(
            (self._first(self._direct, self._base), self._first(self._tunnel, self._through)), self._sizes.streamed
        )
        raw = await _fast(directly, self._sizes.fast)
        rate = await _fast(tunnelled, self._sizes.fast)
        times = {f"p{share}": [percentile(leg, share / 100) for leg in slow] for share in (50, 99)}
        return {
            "call_added_ms": {name: round(through - there, 2) for name, (there, through) in times.items()},
            "calls_per_s": round(rate, 1),
            "stream_first_chunk_added_ms": round(percentile(streams[1], 0.5) - percentile(streams[0], 0.5), 2),
            "raw": {
                "call_direct_ms": {name: round(there, 2) for name, (there, _) in times.items()},
                "call_tunnelled_ms": {name: round(through, 2) for name, (_, through) in times.items()},
                "stream_first_chunk_direct_ms": round(percentile(streams[0], 0.5), 2),
                "calls_direct_per_s": round(raw, 1),
            },
            "usage": meter.read().shown(),
        }

    def _plain(self, client: httpx2.AsyncClient, base: str) -> ThisCall:
        async def call() -> float:
            began = time.perf_counter()
            (await client.get(f"{base}/plain")).raise_for_status()
            return (time.perf_counter() - began) * 1000

        return call

    def _first(self, client: httpx2.AsyncClient, base: str) -> ThisCall:
        """Until the first chunk; the rest is read, too."""

        async def call() -> float:
            began, first = time.perf_counter(), 0.0
            async with client.stream("GET", f"{base}/stream") as answer:
                async for _ in answer.aiter_raw():
                    first = first or (time.perf_counter() - began) * 1000
            return first

        return call


async def _paced(calls: tuple[ThisCall, ...], count: int) -> list[list[float]]:
    """`count` of each kind, PER_SECOND of each a second and in turns, whether the earlier ones are back or not."""
    clock = asyncio.get_running_loop().time
    began = clock()
    tasks: list[list[asyncio.Future[float]]] = [[] for _ in calls]
    for number in range(count * len(calls)):
        await asyncio.sleep(max(0.0, began + number / (PER_SECOND * len(calls)) - clock()))
        tasks[number % len(calls)].append(asyncio.ensure_future(calls[number % len(calls)]()))
    return [await asyncio.gather(*each) for each in tasks]


async def _fast(call: ThisCall, count: int) -> float:
    """Calls a second, AT_ONCE at the same time."""

    async def several() -> None:
        for _ in range(count // AT_ONCE):
            await call()

    began = time.perf_counter()
    await asyncio.gather(*(several() for _ in range(AT_ONCE)))
    return count // AT_ONCE * AT_ONCE / (time.perf_counter() - began)


def _best(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Each figure's best, with the rest of the run that had the best latency."""
    best = min(found, key=lambda each: float(each["call_added_ms"]["p99"]))
    lowest = {name: min(each["call_added_ms"][name] for each in found) for name in ("p50", "p99")}
    return best | {
        "call_added_ms": lowest,
        "calls_per_s": max(each["calls_per_s"] for each in found),
        "stream_first_chunk_added_ms": min(each["stream_first_chunk_added_ms"] for each in found),
    }
