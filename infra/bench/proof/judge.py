"""What happened beside what should have: nothing lost, nothing doubled, every shifted time as rules 6 and 7 say, every miss as rule 8 says.

Knows the oracle's times and the rules; shares no code with the planning.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from infra.bench.proof.oracle import Expected
from infra.bench.proof.world import Act, Epoch, Task
from services.agent.tasks.planning import Planned
from shared.schedules.domain import Occurrence

LATE = 60
"""Seconds from which on a time is late."""
MOST_CAUGHT_UP = 100


def faults_of_times(found: list[Occurrence], expected: list[Expected]) -> Iterator[str]:
    """A schedule's occurrences beside the oracle's."""
    times = [seconds(each.at) for each in found]
    if times != (wanted := [each.at for each in expected]):
        lost, more = sorted(set(wanted) - set(times)), sorted(set(times) - set(wanted))
        yield f"lost {_shown(lost)}, too many {_shown(more)}" if lost or more else "a time comes twice, or out of order"
        return
    for occurrence, wanted_time in zip(found, expected, strict=True):
        yield from _faults_of_note(occurrence.note, wanted_time)


def faults_of_task(task: Task, end: int) -> Iterator[str]:
    fired = Counter(
        run.nominal_at
        for epoch in task.epochs
        for act in epoch.acts
        for run in act.runs
        if run.what == "fire" and run.nominal_at not in act.already
    )
    yield from (f"fired {number} times: {at.isoformat()}" for at, number in fired.items() if number > 1)
    for epoch in task.epochs:
        yield from _faults_of_epoch(epoch, end)


def seconds(at: datetime) -> int:
    return int(at.timestamp())


def _faults_of_epoch(epoch: Epoch, end: int) -> Iterator[str]:
    """Each expected time is in just one run, in order."""
    times = [each.at for each in epoch.schedule.expected]
    limit = end if epoch.limit is None else seconds(epoch.limit)
    place, stop = bisect_right(times, epoch.start.timestamp()), bisect_left(times, limit)
    if epoch.limit is not None and limit < end and (stop == len(times) or times[stop] != limit):
        yield f"promised {epoch.limit.isoformat()}, which is no time of it"
    for act in epoch.acts:
        first = place
        for run in act.runs:
            if place >= len(times) or times[place] != seconds(run.nominal_at):
                yield f"{run.what} {run.nominal_at.isoformat()}, where {_shown(times[place : place + 1])} was to come"
                return
            if run.count == 1:
                yield from _faults_of_note(run.note, epoch.schedule.expected[place])
            place += run.count
            if run.until is not None and times[place - 1] != seconds(run.until):
                yield f"{run.count} times up to {run.until.isoformat()} were {_shown(times[place - 1 : place])}"
                return
        if act.plain:
            yield from _faults_of_policy(epoch, act, times[first : bisect_right(times, act.at.timestamp())])
    if place < stop:
        yield f"lost {_shown(times[place:stop])}"


def _faults_of_policy(epoch: Epoch, act: Act, passed: list[int]) -> Iterator[str]:
    """Rule 8: which of the times that had passed were to fire."""
    now, window = act.at.timestamp(), epoch.due.window_s
    timely = [each for each in passed[-1:] if now - each < LATE]
    recent = [each for each in passed if now - each <= window or each in timely]
    wanted = {"skip": timely, "latest": recent[-1:], "all": recent[-MOST_CAUGHT_UP:]}[epoch.due.misfire]
    fired = [seconds(run.nominal_at) for run in act.runs if run.what == "fire"]
    if fired != wanted:
        yield f"{epoch.due.misfire} fired {_shown(fired)} at {act.at.isoformat()} and not {_shown(wanted)}"
    yield from (f"no reason for {run.nominal_at.isoformat()}" for run in act.runs if _owes_reason(run, now))


def _owes_reason(run: Planned, now: float) -> bool:
    return not run.reason and (run.what != "fire" or now - run.nominal_at.timestamp() >= LATE)


def _faults_of_note(note: str, expected: Expected) -> Iterator[str]:
    said = ("does not exist" in note, "comes twice" in note, "there is no " in note)
    if said != (expected.kind == "gap", expected.kind == "twice", expected.missing > 0):
        yield f"{_shown([expected.at])} is told as “{note}” and is {expected.kind or 'not shifted'}, {expected.missing}"
    elif expected.missing and f"there is no {expected.missing}" not in note:
        yield f"{_shown([expected.at])} is told as “{note}” and not of the {expected.missing}"


def _shown(times: list[int]) -> str:
    some = ", ".join(f"{datetime.fromtimestamp(each, UTC):%Y-%m-%dT%H:%M:%SZ}" for each in times[:3])
    return f"{some or 'nothing'}{f' and {len(times) - 3} more' if len(times) > 3 else ''}"
