"""The figures of the agent with its built-in model: how soon it answers, how many turns a second, what a turn costs beside its model, what guests leave behind."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from infra.bench import agent_ledger, agent_lessons, conversations
from infra.bench.agent_ledger import measure_ledger
from infra.bench.agent_lessons import measure_lessons
from infra.bench.agent_people import Heard, Talker, add_person
from infra.bench.conversations import measure_conversations
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.usage import cpu_seconds, rss_mb

TARGETS: Targets = (
    ("first token, one turn after another, p50 (ms)", ("first_token_ms", "p50"), "<=", 80),
    ("first token, the same, p99 (ms)", ("first_token_ms", "p99"), "", 0),
    ("50 conversations at once (turns/s)", ("turns_per_s",), ">=", 40),
    ("CPU of a turn there, all parts together (ms)", ("turn_cpu_ms", "all"), "", 0),
    ("a turn beside its model's own time, p99 (ms)", ("turn_added_ms", "p99"), "<=", 100),
    ("memory after 10,000 guests came and went (MB more)", ("guest_rss_growth_mb",), "<=", 20),
    *agent_ledger.TARGETS,
    *agent_lessons.TARGETS,
    *conversations.TARGETS,
)
SAID = "hello"
"""Answered by the built-in model in well under a millisecond: what a turn takes is what we add."""
TURNS, CONVERSATIONS, SECONDS = 300, 50, 10.0
GUESTS, GUESTS_AT_ONCE = 10_000, 16
WARM = 20


async def measure_agent(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"first_token_ms": {"p50", "p99"}, "turn_added_ms": {"p50", "p99"}, "turns_per_s", "guest_rss_growth_mb"}, and those of the ledger, lessons and conversations."""
    key = await asyncio.to_thread(add_person, target)
    say("turns one after another")
    alone = await one_after_another(target, key, max(50, round(TURNS * size)))
    say("50 conversations at once")
    rate, spent = await at_once(target, key, max(3.0, SECONDS * size))
    guests = max(500, round(GUESTS * size))
    say(f"{guests:,} guests come and go")
    grown = await come_and_go(target, guests)
    others = await measure_ledger(target, size, say) | await measure_lessons(target, size, say)
    others |= await measure_conversations(target, size, say)
    return others | {
        "first_token_ms": _spread([each.first for each in alone]),
        "turn_added_ms": _spread([each.whole for each in alone]),
        "turns_per_s": round(rate, 1),
        "turn_cpu_ms": {name: round(1000 * seconds, 1) for name, seconds in spent.items()},
        "guest_rss_growth_mb": round(grown, 1),
        "guests": guests,
    }


async def one_after_another(target: Target, key: str, count: int) -> list[Heard]:
    """In conversations of their own, so that each history is short."""
    async with Talker(target, key) as talker:
        for _ in range(WARM):
            await talker.say(SAID)
        return [await talker.say(SAID) for _ in range(count)]


async def at_once(target: Target, key: str, seconds: float) -> tuple[float, dict[str, float]]:
    """Turns a second of so many conversations that each say the next thing as soon as they are answered; and each part's seconds of CPU a turn."""
    before = {name: cpu_seconds([pid]) for name, pid in target.pids.items()}
    ends = time.perf_counter() + seconds

    async def talk() -> int:
        async with Talker(target, key) as talker:
            count, place = 0, ""
            while time.perf_counter() < ends:
                place = (await talker.say(SAID, place)).conversation
                count += 1
            return count

    began = time.perf_counter()
    counts = await asyncio.gather(*(talk() for _ in range(CONVERSATIONS)))
    spent = {name: (cpu_seconds([pid]) - before[name]) / sum(counts) for name, pid in target.pids.items()}
    return sum(counts) / (time.perf_counter() - began), spent | {"all": sum(spent.values())}


async def come_and_go(target: Target, count: int) -> float:
    """MB that the agent has grown by, after a tenth of them has shown it what it needs."""
    pids = target.instances("agent")
    await _guests(target, max(200, count // 10))
    before = rss_mb(pids)
    await _guests(target, count)
    await asyncio.sleep(2)
    return rss_mb(pids) - before


async def _guests(target: Target, count: int) -> None:
    left = iter(range(count))

    async def some() -> None:
        async with Talker(target) as talker:
            for _ in left:
                await talker.visit(SAID)

    await asyncio.gather(*(some() for _ in range(GUESTS_AT_ONCE)))


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    """Milliseconds."""
    found = sorted(seconds)
    return {
        "p50": round(1000 * found[len(found) // 2], 2),
        "p99": round(1000 * found[min(len(found) - 1, len(found) * 99 // 100)], 2),
    }
