"""When a schedule should have run, reckoned the other way round: from what a clock shows at each instant.

Shares no code with shared.schedules. A zone is only ever asked what its clock shows at an instant, never which instant a wall time is.
Whole seconds since 1970 throughout: of UTC, or of the wall clock as if it were UTC.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

DAY = 86400
MARGIN = 3 * DAY
Kind = Literal["", "gap", "twice"]


@dataclass(frozen=True, slots=True)
class Day:
    """A date with what schedules ask of it. `wall`: its midnight. `last`: days of its month. `weekday`: Monday is 1."""

    wall: int
    number: int
    year: int
    month: int
    day: int
    weekday: int
    last: int


Fits = Callable[[Day], int | None]
"""None: not on that day. 0: on it. Else the day of the month that was asked for, of which that month has none."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One time: when, how the clock shifted it, and the day of the month that is missing (else 0)."""

    at: int
    kind: Kind = ""
    missing: int = 0


class Clock:
    """What the clock of a zone shows over some years, as stretches of one offset."""

    def __init__(self, zone: str, begin: int, end: int) -> None:
        self._zone = ZoneInfo(zone)
        self.starts, self.offsets = [begin - MARGIN], [self._offset(begin - MARGIN)]
        for probe in range(begin - MARGIN + DAY // 2, end + MARGIN, DAY // 2):
            if self._offset(probe) != self.offsets[-1]:
                self.starts.append(self._change(probe - DAY // 2, probe))
                self.offsets.append(self._offset(probe))

    def _offset(self, at: int) -> int:
        found = datetime.fromtimestamp(at, self._zone).utcoffset()
        assert found is not None
        return int(found.total_seconds())

    def _change(self, low: int, high: int) -> int:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle) == self._offset(low) else (low, middle)
        return high

    def run_of(self, wall: int) -> tuple[int, Kind]:
        """Rule 6: the first instant at which the clock shows it; where it never does, the first after the gap."""
        number = max(bisect_right(self.starts, wall - 27 * 3600) - 1, 0)
        seen: list[int] = []
        after_gap = None
        while number < len(self.starts) and self.starts[number] <= wall + 27 * 3600:
            start, offset = self.starts[number], self.offsets[number]
            end = self.starts[number + 1] if number + 1 < len(self.starts) else 1 << 62
            if start <= wall - offset < end:
                seen.append(wall - offset)
            elif after_gap is None and not seen and start + offset > wall:
                after_gap = start
            number += 1
        if seen:
            return seen[0], "twice" if len(seen) > 1 else ""
        assert after_gap is not None
        return after_gap, "gap"

    def stretches(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(first instant, instant after the last, offset)."""
        for number, start in enumerate(self.starts):
            stop = self.starts[number + 1] if number + 1 < len(self.starts) else end
            if stop > begin and start < end:
                yield max(start, begin), min(stop, end), self.offsets[number]


def calendar(begin: int, end: int) -> list[Day]:
    """Every day of those years, with a margin."""
    day = datetime.fromtimestamp(begin - MARGIN, UTC).date()
    found: list[Day] = []
    while (wall := (day - date(1970, 1, 1)).days * DAY) < end + MARGIN:
        following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
        last = (following - timedelta(days=1)).day
        found.append(Day(wall, wall // DAY, day.year, day.month, day.day, day.isoweekday(), last))
        day += timedelta(days=1)
    return found


def on_days(days: list[Day], fits: Fits, times: list[int], clock: Clock) -> list[Expected]:
    """Times of the wall clock (seconds of the day, sorted) on the days that fit; what falls on one instant is one."""
    found: list[Expected] = []
    for day in days:
        missing = fits(day)
        if missing is None:
            continue
        for time in times:
            at, kind = clock.run_of(day.wall + time)
            if not found or at != found[-1].at:
                found.append(Expected(at, kind, missing))
    return found


def while_shown(days: list[Day], fits: Fits, minutes: frozenset[int], clock: Clock) -> list[Expected]:
    """Every minute that a clock shows on the days that fit, however often it shows it."""
    wanted = {day.number for day in days if fits(day) is not None}
    found = []
    for start, stop, offset in clock.stretches(days[0].wall + DAY, days[-1].wall):
        first = -(-(start + offset) // 60) * 60
        for hour in range(first // 3600 * 3600, stop + offset, 3600):
            if hour // DAY in wanted:
                walls = (hour + minute * 60 for minute in sorted(minutes))
                found += [Expected(wall - offset) for wall in walls if first <= wall < stop + offset]
    return found


def each_minute(zone: str, begin: int, end: int, walls: list[int]) -> list[int]:
    """The slow way, to judge the oracle itself: go through every minute, look at the clock, run what it shows or has passed and has not run."""
    place, left = ZoneInfo(zone), sorted(walls)
    found: list[int] = []
    for at in range(begin, end, 60):
        shown = datetime.fromtimestamp(at, place).replace(tzinfo=UTC).timestamp()
        while left and left[0] <= shown:
            if left.pop(0) > shown - DAY * 2 and (not found or found[-1] != at):
                found.append(at)
    return found
