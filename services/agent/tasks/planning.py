"""What to do with a task whose time has come: which times fire, which are missed or skipped and why, and what comes next. Pure: no clock, no database.

Every time of the schedule up to `at` stands in exactly one of the planned runs, so nothing is lost without a word and nothing fires twice (rules 8, 9).
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, takewhile
from typing import Literal

from services.agent.tasks.domain import WINDOW_S, Misfire, Overlap
from shared.schedules.calendar import next_after, occurrences
from shared.schedules.domain import Cron, Interval, Occurrence, Once, Wall

GRACE = timedelta(seconds=60)
"""A time that is younger is not late: that long a change of the loop's owner may take (rule 9: 20 s) on a busy machine."""
MOST_CAUGHT_UP = 100
"""Times of one task that `all` catches up; the newest of them."""
MOST_COUNTED = 20_000
"""Missed times are counted up to here; beyond, the row says "more than"."""
What = Literal["fire", "missed", "skipped"]


@dataclass(frozen=True)
class Due:
    """A task as far as its times go. `next`: the time that has come, as it was promised. `busy`: a run of it is under way. `one_by_one`: its runs take a
    while, so that several cannot be begun at once. `held`: its time has waited for the end of a run."""

    rule: Once | Interval | Wall | Cron
    zone: str
    next: Occurrence
    misfire: Misfire = "latest"
    window_s: int = WINDOW_S
    overlap: Overlap = "skip"
    one_by_one: bool = False
    busy: bool = False
    held: bool = False


@dataclass(frozen=True)
class Planned:
    """One time, or `count` of them that did not run, from `nominal_at` to `until`. `at_least`: there were more than were counted."""

    nominal_at: datetime
    what: What
    reason: str = ""
    note: str = ""
    count: int = 1
    until: datetime | None = None
    at_least: bool = False


@dataclass(frozen=True)
class Plan:
    """`next`: None when nothing comes any more. `hold`: `next` is over already, and waits for the end of the run that is under way. `unreadable`: nobody can say
    what comes next."""

    runs: tuple[Planned, ...]
    next: Occurrence | None
    hold: bool = False
    unreadable: bool = False


@dataclass(frozen=True)
class _Passed:
    """Times up to now. `older`: out of the window, summed up. `recent`: the newest of the rest, in order; `between`: those before them."""

    older: Planned | None
    between: Planned | None
    recent: tuple[Occurrence, ...]


def plan(due: Due, at: datetime) -> Plan:
    """What becomes of every time up to and including `at`."""
    if at < due.next.at:
        return Plan((), due.next)
    if due.busy and (due.held or due.overlap == "wait"):
        return Plan((), due.next, hold=True)
    passed = _passed(due, at)
    fires = _fires(due, passed.recent, at)
    left = [each for each in passed.recent if each not in fires]
    runs = _left_out(due, passed, left, at)
    if due.busy:
        return _finish(due, [*runs, *(_overlaps(each) for each in fires)], at)
    if due.one_by_one and len(fires) > 1:
        kept = [each for each in runs if each.nominal_at < fires[1].at]
        return Plan(_sorted([*kept, _fired(due, fires[0], at)]), fires[1], hold=True)
    return _finish(due, [*runs, *(_fired(due, each, at) for each in fires)], at)


def _finish(due: Due, runs: list[Planned], at: datetime) -> Plan:
    return Plan(_sorted(runs), next_after(due.rule, due.zone, at))


def _sorted(runs: list[Planned]) -> tuple[Planned, ...]:
    return tuple(sorted(runs, key=lambda each: each.nominal_at))


def _fires(due: Due, recent: tuple[Occurrence, ...], at: datetime) -> list[Occurrence]:
    """Those that run now, in order."""
    if not recent:
        return []
    newest = recent[-1]
    if due.held and due.misfire != "all":
        return [newest]
    within = [each for each in recent if _is_timely(each, at) or at - each.at <= timedelta(seconds=due.window_s)]
    if due.misfire == "all":
        return within[-MOST_CAUGHT_UP:]
    if due.misfire == "skip":
        return [newest] if _is_timely(newest, at) else []
    return within[-1:]


def _is_timely(time: Occurrence, at: datetime) -> bool:
    return at - time.at < GRACE


def _fired(due: Due, time: Occurrence, at: datetime) -> Planned:
    late = "" if _is_timely(time, at) else f"It ran {_span(at - time.at)} late: {_why(due)}."
    return Planned(time.at, "fire", late, time.note)


def _why(due: Due) -> str:
    return "it waited for the end of the run before" if due.held else "nothing ran at its time"


def _overlaps(time: Occurrence) -> Planned:
    return Planned(time.at, "skipped", "The run before was still under way.", time.note)


def _left_out(due: Due, passed: _Passed, left: list[Occurrence], at: datetime) -> list[Planned]:
    """What does not run, each with its reason, as few rows as can say so."""
    hours = f"{due.window_s / 3600:g} h"
    found = []
    if passed.older is not None:
        reason = f"Nothing ran at its time, and it is more than {hours} ago: it is not caught up."
        found.append(replace(passed.older, what="missed", reason=_counted(passed.older, reason)))
    rest = _joined(passed.between, left)
    if rest is not None:
        what: What = "skipped" if due.misfire == "skip" or due.held else "missed"
        found.append(replace(rest, what=what, reason=_counted(rest, _left_reason(due))))
    return found


def _left_reason(due: Due) -> str:
    if due.held:
        return "The run before was still under way; only the newest time waited for its end."
    if due.misfire == "skip":
        return "Nothing ran at its time, and this task does not catch up."
    if due.misfire == "all":
        return f"Nothing ran at its time; at most {MOST_CAUGHT_UP} times are caught up."
    return "Nothing ran at its time; only the newest one is caught up."


def _counted(run: Planned, reason: str) -> str:
    if run.count == 1:
        return reason
    most = "More than " if run.at_least else ""
    return f"{reason} {most}{run.count:,} times, the last at {run.until:%Y-%m-%d %H:%M} UTC."


def _joined(before: Planned | None, left: list[Occurrence]) -> Planned | None:
    """One row for all of them."""
    if not left:
        return before
    if before is None:
        note = left[0].note if len(left) == 1 else ""
        return Planned(left[0].at, "missed", note=note, count=len(left), until=left[-1].at)
    return replace(before, count=before.count + len(left), until=left[-1].at)


def _passed(due: Due, at: datetime) -> _Passed:
    """Every time up to `at`; those that can no more run are only counted."""
    horizon = at - max(timedelta(seconds=due.window_s), GRACE)
    if due.held and due.next.at <= horizon:
        horizon = due.next.at - timedelta(microseconds=1)
    older = _count(due, horizon)
    recent: deque[Occurrence] = deque(maxlen=MOST_CAUGHT_UP)
    first, dropped, last = None, 0, None
    for each in _times(due, horizon, at):
        if len(recent) == MOST_CAUGHT_UP:
            first, dropped, last = first or recent[0], dropped + 1, recent[0]
        recent.append(each)
    between = None if first is None or last is None else Planned(first.at, "missed", count=dropped, until=last.at)
    return _Passed(older, between, tuple(recent))


def _times(due: Due, after: datetime, at: datetime) -> Iterator[Occurrence]:
    """The times after `after`, from the promised one on, up to `at`."""
    if due.next.at > after:
        begin = chain([due.next], occurrences(due.rule, due.zone, due.next.at))
    else:
        begin = chain(occurrences(due.rule, due.zone, after))
    return takewhile(lambda each: each.at <= at, begin)


def _count(due: Due, until: datetime) -> Planned | None:
    """Those up to and including `until`, summed up."""
    if due.next.at > until:
        return None
    count, last, more = 1, due.next, False
    for each in takewhile(lambda time: time.at <= until, occurrences(due.rule, due.zone, due.next.at)):
        if count == MOST_COUNTED:
            more = True
            break
        count, last = count + 1, each
    note = due.next.note if count == 1 else ""
    return Planned(due.next.at, "missed", note=note, count=count, until=until if more else last.at, at_least=more)


def _span(time: timedelta) -> str:
    """In the largest fitting unit: "95 min", "26 h"."""
    minutes = round(time.total_seconds() / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days"  # fmt: skip
