"""One look at everything, and another, and another: figures with rates between two looks.

A sample is what DIR/run/report/top.json holds and `schleuse top` and the console show:

    {"taken_at", "every", "ready", "up_seconds", "parts": {name: PART}, "readers": [READER], "gate", "audit", "agent", "tasks", "postgres", "streams", "disk", "backup_age", "problems"}

PART: {"state" (the supervisor's word, or "silent": it does not answer), "ready", "pid", "restarts", "cpu" (share of a core), "rss", "pss", "postgres" [used, limit], "bus", "in", "out", "web" (each a second), "lag", "unsent",
"oldest", "parked", "red": [says], "history": {"in", "out"}}. Bytes and seconds throughout; None is unknown.
"""

import asyncio
import time
from collections import deque
from typing import Any

from infra.local import control, readiness
from infra.local.config import Config
from infra.local.instances import base_of, is_service
from infra.local.layout import Layout
from infra.observe.crew import Crew
from infra.observe.top import reading
from infra.observe.top.bus import Bus
from infra.observe.top.problems import problems
from infra.observe.top.tasks import task_loop
from shared.clock import now
from shared.errors import SchleuseError, Transient
from shared.settings import DATABASES

KEPT = 60
"""Rates that are remembered for the little charts."""
SLOW = 30.0
"""Seconds between two looks at what is dear to find out: sizes of databases, shared memory."""
PATIENCE = 4.0
TALKING = ("turns_running", "turns_waiting", "model_calls_open", "cap_refusals", "guests_here")
Figures = dict[str, Any]


class Sampler:
    """Keeps its connections open between two samples; `close` it in the loop that used it."""

    def __init__(self, layout: Layout, config: Config, crew: Crew, every: float) -> None:
        self._layout, self._config, self._crew, self._every = layout, config, crew, every
        self._bus = Bus(layout, config)
        self._counted: dict[str, tuple[int, float, Figures]] = {}
        self._history: dict[str, dict[str, deque[float | None]]] = {}
        self._slow_at = float("-inf")
        self._kept: Figures = {}
        self._before: Figures | None = None

    async def sample(self) -> Figures:
        slow = time.monotonic() - self._slow_at >= SLOW
        supervisor, pulse, bus = await asyncio.gather(self._supervisor(), self._pulse(slow=slow), self._bus.read())
        parts: dict[str, Figures] = supervisor.get("parts", {})
        answers = await asyncio.gather(*(self._health(name) for name in parts))
        if slow:
            self._look_slowly(parts, pulse)
        uids = set(self._config.uids.values()) if self._config.os_separation else set()
        bus["connections"] = reading.connections_to(self._config.bus_ports, uids)
        found: Figures = {
            "taken_at": now().isoformat(timespec="milliseconds"),
            "every": self._every,
            "ready": bool(supervisor.get("ready")),
            "up_seconds": supervisor.get("up_seconds"),
            "parts": {name: self._part(name, part, answer, pulse, bus) for (name, part), answer in zip(parts.items(), answers, strict=True)},
            "readers": bus.get("readers"),
            "streams": bus.get("streams"),
            "gate": _gate(pulse, parts, answers),
            "audit": _audit(pulse, answers),
            "agent": _agent(answers),
            "tasks": task_loop({name: answer.get("figures", {}) for name, answer in zip(parts, answers, strict=True)}),
            "postgres": {name: pulse.get(name) for name in ("used", "limit", "oldest_transaction")} | {"sizes": self._kept.get("sizes")},
            "disk": reading.disk(self._layout),
            "backup_age": reading.backup_age(self._layout),
        }  # fmt: skip
        found["problems"] = problems(found, self._before)
        self._before = found
        return found

    async def close(self) -> None:
        await self._bus.close()
        await self._crew.stop()

    async def _supervisor(self) -> Figures:
        try:
            return await asyncio.to_thread(control.ask, self._layout, "status")
        except (Transient, ValueError):
            return {}

    async def _pulse(self, *, slow: bool) -> Figures:
        try:
            worker = await self._crew.worker("pgadm")
            (outcome,) = await worker.make(str(self._layout.state), [{"kind": "pulse", "slow": slow}], PATIENCE)
        except SchleuseError:
            return {}
        found: Figures = outcome["value"]
        return found

    async def _health(self, part: str) -> Figures:
        return await readiness.figures(self._layout.health(part)) if is_service(part) else {}

    def _look_slowly(self, parts: dict[str, Figures], pulse: Figures) -> None:
        self._slow_at = time.monotonic()
        self._kept["pss"] = {
            (name, part["pid"]): reading.proportional(reading.family(part["pid"]))
            for name, part in parts.items()
            if part["pid"]
        }
        self._kept["sizes"] = pulse.get("sizes")

    def _part(self, name: str, part: Figures, answer: Figures, pulse: Figures, bus: Figures) -> Figures:
        base, figures = base_of(name), answer.get("figures", {})
        uid = self._config.uids.get(base, -1)
        known = bool(answer.get("conditions", {}).get("database", {}).get("ok"))
        found = {
            **_standing(part, answers=bool(answer) or not is_service(name)), "pid": part["pid"], "restarts": part["restarts"],
            "pss": self._kept.get("pss", {}).get((name, part["pid"])),
            "postgres": pulse.get("connections", {}).get(base) if base in DATABASES else None,
            "bus": bus["connections"].get(uid) if base in DATABASES else None,
            "lag": (bus.get("lag") or {}).get(base, 0 if bus.get("lag") is not None and base in DATABASES else None),
            "unsent": figures.get("unsent_events") if known else None,
            "oldest": figures.get("oldest_unsent_seconds") if known else None,
            "parked": figures.get("parked_events") if known else None,
            "red": [f"{condition.replace('_', ' ')}: {_line(each.get('detail') or 'not ok')}" for condition, each in answer.get("conditions", {}).items() if not each.get("ok") and condition != "parked"],
            **self._rates(name, part, figures),
        }  # fmt: skip
        return found | {"history": self._remember(name, found)}

    def _rates(self, name: str, part: Figures, figures: Figures) -> Figures:
        """Between this look and the one before, if it is still the same process."""
        at, pid = time.monotonic(), part["pid"] or 0
        used = reading.usage(reading.family(pid)) if pid else None
        counts = {"in": reading.handled(figures), "out": figures.get("relay_sent"), "web": figures.get("http_requests"), "cpu": used.cpu if used else None}  # fmt: skip
        before_pid, before_at, before = self._counted.get(name, (-1, at, {}))
        self._counted[name] = (pid, at, counts)
        seconds = at - before_at
        same = pid == before_pid and seconds > 0
        rates = {key: _rate(before.get(key), value, seconds) if same else None for key, value in counts.items()}
        return {**rates, "rss": used.rss if used else None}

    def _remember(self, name: str, part: Figures) -> dict[str, list[float | None]]:
        kept = self._history.setdefault(name, {"in": deque(maxlen=KEPT), "out": deque(maxlen=KEPT)})
        for way, rates in kept.items():
            rates.append(part[way])
        return {way: list(rates) for way, rates in kept.items()}


def _rate(before: float | None, count: float | None, seconds: float) -> float | None:
    if before is None or count is None or count < before:
        return None
    return round((count - before) / seconds, 2)


def _standing(part: Figures, *, answers: bool) -> Figures:
    """The supervisor may not have seen yet that somebody is gone."""
    silent = part["ready"] and not answers
    return {"state": "silent" if silent else part["state"], "ready": part["ready"] and answers}


def _line(text: str) -> str:
    """What a service says may have several lines; the first one says what is wrong."""
    return text.partition("\n")[0][:200]


def _gate(pulse: Figures, parts: dict[str, Figures], answers: list[Figures]) -> Figures:
    """Where the gate's log stands at the lock, and what the site that is least far has of it."""
    gate = pulse.get("gate") or {}
    sites = [answer.get("figures", {}) for name, answer in zip(parts, answers, strict=True) if base_of(name) == "site"]
    seqs = [figures.get("gate_seq") for figures in sites]
    known = [seq for seq in seqs if seq is not None]
    at_site = min(known) if known and len(known) == len(seqs) else None
    newest = gate.get("seq") if gate.get("seq") is not None else -1 if gate else None
    ages = [figures.get("head_age_s") for figures in sites if figures.get("head_age_s") is not None]
    behind = max(0, newest - at_site) if newest is not None and at_site is not None else None
    return {**gate, "at_site": at_site, "behind": behind, "head_age": max(ages) if ages else None}


def _agent(answers: list[Figures]) -> Figures | None:
    """What all instances of the agent do now, and how often a cap has refused since they began; None when none of them says."""
    said = [figures for answer in answers if "turns_running" in (figures := answer.get("figures", {}))]
    return {name: sum(each.get(name) or 0 for each in said) for name in TALKING} if said else None


def _audit(pulse: Figures, answers: list[Figures]) -> Figures | None:
    """Where the call audit stands, what its newest checkpoint is over, and how far the console has recomputed its copy."""
    if pulse.get("audit") is None:
        return None
    said = [answer.get("figures", {}) for answer in answers]
    newest = {
        name: [each[name] for each in said if each.get(name) is not None] for name in ("audit_checkpoint", "audit_copy")
    }
    return {
        **pulse["audit"],
        "checkpoint": max(newest["audit_checkpoint"], default=None),
        "copy": max(newest["audit_copy"], default=None),
    }
