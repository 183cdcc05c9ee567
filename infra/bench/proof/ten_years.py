"""The proof of time over all zones: each zone's schedules against the oracle, and a world of tasks in each."""

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache
from itertools import takewhile
from multiprocessing import get_context
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter
from typing import Any

from infra.bench.proof.judge import faults_of_task, faults_of_times
from infra.bench.proof.oracle import Clock, Day, calendar
from infra.bench.proof.schedules import SPARSE, Decade, daily
from infra.bench.proof.world import World
from shared.schedules.calendar import occurrences
from shared.schedules.zones import known_zones

BEGINNINGS = (2008, 2026)
"""Of the ten years, one for each zone by turns: the changes that were, a day that was left out among them, and those that are to come."""
OTHERS, TASKS = 4, 4
"""Of each zone: schedules beside a daily one that are compared as they are, and tasks."""
PORTION = 10
SHOWN = 20


def prove(seed: int, zones: list[str], say: Callable[[str], None]) -> dict[str, Any]:
    """`faults` is empty when all is well."""
    began, spent = perf_counter(), _spent()
    count, faults = Counter[str](), list[str]()
    portions = [(seed, zones[start : start + PORTION], start) for start in range(0, len(zones), PORTION)]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(portions)), get_context("spawn")) as pool:
        for done, (more, found) in enumerate(pool.map(_portion, portions), 1):
            count.update(more)
            faults += found
            if done % 10 == 0:
                say(f"{done * PORTION} of {len(zones)} zones, {perf_counter() - began:.0f} s")
    return {
        "seed": seed, "zones": len(zones), "years": 10, "schedules": count["schedules"], "occurrences": count["occurrences"],
        "tasks": count["tasks"], "fired": count["fired"], "outages": count["outage"], "clock_steps": count["forward"] + count["back"],
        "takeovers": count["takeovers"], "refused_writes": count["refused"], "edits": count["edits"],
        "seconds": round(perf_counter() - began, 1), "cpu_seconds": round(_spent() - spent, 1), "faults": faults[:SHOWN], "fault_count": len(faults),
    }  # fmt: skip


def _spent() -> float:
    """CPU seconds of processes that this one started and that ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def all_zones() -> list[str]:
    return sorted(known_zones())


def prove_zone(zone: str, beginning: int, rng: Random, tasks: int = TASKS, *, checked: bool = True) -> tuple[Counter[str], list[str]]:  # fmt: skip
    decade = decade_of(zone, beginning)
    ends = datetime.fromtimestamp(decade.end, UTC)
    count, faults = Counter[str](), list[str]()
    for kind in [daily, *rng.sample(SPARSE, OTHERS)]:
        schedule = kind(rng, decade)
        found = list(takewhile(lambda each: each.at < ends, occurrences(schedule.rule, zone, decade.start)))
        expected = [each for each in schedule.expected if decade.begin < each.at < decade.end]
        count.update(schedules=1, occurrences=len(found))
        faults += [f"{zone} {schedule.rule!r}: {each}" for each in faults_of_times(found, expected)]
    world = World(decade, rng, tasks, checked=checked)
    world.run()
    count.update(world.count, tasks=tasks)
    for task in world.tasks:
        faults += [f"{zone} task {task.number}: {each}" for each in faults_of_task(task, decade.end)]
    return count, faults


def decade_of(zone: str, beginning: int) -> Decade:
    begin, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (beginning, beginning + 10))
    return Decade(zone, Clock(zone, begin, end), _days(begin, end), begin, end)


@lru_cache(maxsize=2)
def _days(begin: int, end: int) -> list[Day]:
    return calendar(begin, end)


def _portion(work: tuple[int, list[str], int]) -> tuple[Counter[str], list[str]]:
    seed, zones, place = work
    count, faults = Counter[str](), list[str]()
    for number, zone in enumerate(zones, place):
        rng = Random(f"{seed} {zone}")  # noqa: S311 - a seed is there to be repeated
        more, found = prove_zone(zone, BEGINNINGS[number % len(BEGINNINGS)], rng)
        count.update(more)
        faults += found
    return count, faults
