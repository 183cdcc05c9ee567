"""The whole measurement of the lock: each leg three times, the best of three reported, all three shown."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from infra.bench import load
from infra.bench.approvals import Waiting, approve_each, percentile, submit, withdraw_each
from infra.bench.rates import cached_page, through
from infra.bench.raw import legs
from infra.bench.target import Say, Target
from infra.bench.usage import Meter, rss_mb

LOADED_RATE = 1000
"""Signals a second while approvals are timed under load."""
Figures = dict[str, float]
Leg = Callable[[], Awaitable[Figures]]


@dataclass(frozen=True)
class Sizes:
    """How much of everything one run does."""

    runs: int = 3
    approvals: int = 100
    backlog: int = 100_000
    backlog_approvals: int = 60
    events: int = 30_000
    signals: int = 200_000
    pages: int = 24_000
    raw_batches: int = 100
    withdrawals: int = 40

    @classmethod
    def scaled(cls, runs: int, share: float) -> "Sizes":
        """The same with a share of the work, and never so little that nothing could be said."""
        full = asdict(cls())
        return cls(**{name: max(10, int(count * share)) for name, count in full.items()} | {"runs": runs})


@dataclass
class Bench:
    """Measures a target; `say` hears what is going on."""

    target: Target
    sizes: Sizes
    say: Say
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    published: list[Waiting] = field(default_factory=list)

    async def measure(self) -> dict[str, Any]:
        """All figures, under the keys that `bench lock --json` promises."""
        idle = await self._best("approve", "p99", self._approve)
        cached = await self._best("page_cached", "per_core", self._page)
        raw = await self._best("raw", "js_publish_per_s", self._raw)
        events = await self._best("events", "per_s", self._events)
        signals = await self._best("signals", "per_s", self._signals)
        loaded = await self._best("approve_loaded", "p99", self._approve_loaded)
        backlog = await self._best("approve_backlog", "p99", self._approve_backlog)
        withdrawn = await self._best("withdraw", "p99", self._withdraw)
        return {
            "approve_to_visible_ms": _only(idle, "p50", "p99"),
            "approve_to_visible_loaded_ms": _only(loaded, "p50", "p99"),
            "approve_to_visible_backlog_ms": _only(backlog, "p50", "p99"),
            "events_per_s": events["per_s"],
            "signals_per_s": signals["per_s"],
            "raw": _only(raw, "js_publish_per_s", "js_fetch_per_s", "pg_batch_per_s"),
            "ratio_to_slowest_raw": round(events["per_s"] / min(raw.values()), 3),
            "page_cached_per_s": cached["per_core"],
            "page_cached_wall_per_s": cached["per_s"],
            "withdraw_ms": _only(withdrawn, "p50", "p99"),
            "rss_mb": round(rss_mb(self.target.services.values()), 1),
            "rss_mb_by_service": {name: round(rss_mb([pid]), 1) for name, pid in self.target.services.items()},
            "runs": self.runs,
        }

    async def _best(self, name: str, by: str, leg: Leg) -> Figures:
        """The run with the lowest p99, or the highest rate."""
        found = []
        for number in range(1, self.sizes.runs + 1):
            meter = Meter(self.target.pids)
            figures = await leg()
            self.runs.setdefault(name, []).append(figures | {"usage": meter.read().shown()})
            self.say(f"{name} {number}/{self.sizes.runs}: {_said(self.runs[name][-1])}")
            found.append(figures)
        return (min if by == "p99" else max)(found, key=lambda each: each[by])

    async def _approve(self) -> Figures:
        items = await submit(self.target, self.sizes.approvals)
        self.published += items
        return _times(await approve_each(self.target, items))

    async def _approve_loaded(self) -> Figures:
        items = await submit(self.target, self.sizes.approvals)
        self.published += items
        stopping = asyncio.Event()
        before = await load.views(self.target)
        flowing = asyncio.create_task(load.steady(self.target, LOADED_RATE, stopping))
        try:
            await load.counted(self.target, before + LOADED_RATE, 30)
            took = await approve_each(self.target, items)
        finally:
            stopping.set()
        await load.counted(self.target, before + await flowing, 60)
        return _times(took)

    def _signal_bridge(self, number: signal.Signals) -> None:
        for pid in self.target.instances("bridge"):
            os.kill(pid, number)

    async def _approve_backlog(self) -> Figures:
        """The lock is held still while the site publishes 100,000 events; then they drain, and approvals are timed."""
        items = await submit(self.target, self.sizes.backlog_approvals)
        before = await load.views(self.target)
        requests = load.bodies(self.sizes.backlog, 500, 1)
        if self.target.own:
            self._signal_bridge(signal.SIGSTOP)
        try:
            await load.send(self.target, requests)
        finally:
            if self.target.own:
                self._signal_bridge(signal.SIGCONT)
        drained = asyncio.Event()
        draining = asyncio.create_task(self._drained(before + self.sizes.backlog, drained))
        took = await approve_each(self.target, items, enough=drained)
        left = before + self.sizes.backlog - await load.views(self.target)
        await draining
        self.published += items[: len(took)]
        return _times(took) | {"backlog_left_after": float(left)}

    async def _drained(self, goal: int, done: asyncio.Event) -> None:
        await load.counted(self.target, goal, 300)
        done.set()

    async def _events(self) -> Figures:
        return {"per_s": round(await through(self.target, self.sizes.events, 500, 1))}

    async def _signals(self) -> Figures:
        return {"per_s": round(await through(self.target, self.sizes.signals, 5000, 100))}

    async def _page(self) -> Figures:
        per_core, wall = await cached_page(self.target, self.published[0], self.sizes.pages)
        return {"per_core": round(per_core), "per_s": round(wall)}

    async def _raw(self) -> Figures:
        found = await legs(self.target, self.sizes.raw_batches)
        return {f"{name}_per_s": round(rate) for name, rate in found._asdict().items()}

    async def _withdraw(self) -> Figures:
        taken = [self.published.pop() for _ in range(min(self.sizes.withdrawals, len(self.published)))]
        return _times(await withdraw_each(self.target, taken))


def _times(took: list[float]) -> Figures:
    """Milliseconds; 0 approvals cannot happen, the first is timed before anything can drain."""
    return {"p50": round(percentile(took, 0.5), 1), "p99": round(percentile(took, 0.99), 1), "n": float(len(took))}


def _only(figures: Figures, *names: str) -> Figures:
    return {name: figures[name] for name in names}


def _said(run: dict[str, Any]) -> str:
    usage = run["usage"]
    figures = ", ".join(f"{name} {value:g}" for name, value in run.items() if name != "usage")
    return f"{figures} ({usage['wall_s']} s, {usage['cores']} cores of ours, machine {usage['machine_idle']:.0%} idle)"
