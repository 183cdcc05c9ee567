"""Random schedules, each beside how the oracle tells when it should run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from infra.bench.proof.oracle import DAY, Clock, Day, Expected, Fits, on_days, while_shown
from shared.schedules.cron import read_cron
from shared.schedules.domain import Cron, Interval, Once, Wall

WEEKDAYS = ("", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@dataclass(frozen=True)
class Schedule:
    """`expected`: every time from the beginning on, in order. `zone`: whose clock it follows."""

    rule: Once | Interval | Wall | Cron
    zone: str
    expected: list[Expected]


@dataclass(frozen=True)
class Decade:
    """What the schedules of a zone are made from. `start`: in UTC; `begin`, `end`: seconds since 1970."""

    zone: str
    clock: Clock
    days: list[Day]
    begin: int
    end: int

    @property
    def start(self) -> datetime:
        return datetime.fromtimestamp(self.begin, UTC)


def make(rng: Random, decade: Decade, kinds: list["Kind"] | None = None) -> Schedule:
    return rng.choice(kinds or SPARSE)(rng, decade)


def daily(rng: Random, decade: Decade) -> Schedule:
    return _wall(rng, decade, lambda day: 0, 1, unit="day")


def every_days(rng: Random, decade: Decade) -> Schedule:
    every, first = rng.randint(2, 40), decade.begin // DAY
    return _wall(rng, decade, lambda day: 0 if (day.number - first) % every == 0 else None, unit="day", every=every)


def weekly(rng: Random, decade: Decade) -> Schedule:
    every, weekdays = rng.choice([1, 1, 2, 3, 52]), rng.sample(range(1, 8), rng.randint(1, 2))
    # day 4 of 1970 was a Monday
    first = (decade.begin // DAY - 4) // 7

    def fits(day: Day) -> int | None:
        return 0 if day.weekday in weekdays and ((day.number - 4) // 7 - first) % every == 0 else None

    return _wall(rng, decade, fits, unit="week", every=every, weekdays=tuple(weekdays))


def monthly(rng: Random, decade: Decade) -> Schedule:
    every, days = rng.choice([1, 1, 1, 2, 5, 12]), rng.sample([1, 2, 15, 28, 29, 30, 31, -1], rng.randint(1, 2))
    month = decade.start.year * 12 + decade.start.month
    fits = _clipped(days, lambda day: (day.year * 12 + day.month - month) % every == 0)
    return _wall(rng, decade, fits, unit="month", every=every, days=tuple(days))


def nth_of_month(rng: Random, decade: Decade) -> Schedule:
    nth, weekdays = rng.choice([1, 2, 3, 4, 5, -1]), rng.choice([(1,), (3,), (7,), (1, 2, 3, 4, 5), (6, 7)])
    return _wall(rng, decade, lambda day: _is_nth(day, nth, weekdays), unit="month", nth=nth, weekdays=weekdays)


def yearly(rng: Random, decade: Decade) -> Schedule:
    month, days = rng.choice([(2, (29,)), (2, (28, 29)), (4, (30,)), (12, (31,)), (rng.randint(1, 12), (rng.randint(1, 28),))])  # fmt: skip
    fits = _clipped(list(days), lambda day: day.month == month)
    return _wall(rng, decade, fits, unit="year", month=month, days=days)


def nth_of_year(rng: Random, decade: Decade) -> Schedule:
    month, nth, weekday = rng.randint(1, 12), rng.choice([1, 2, -1, 5]), rng.randint(1, 7)

    def fits(day: Day) -> int | None:
        return _is_nth(day, nth, (weekday,)) if day.month == month else None

    return _wall(rng, decade, fits, unit="year", month=month, nth=nth, weekdays=(weekday,))


def cron_on_days(rng: Random, decade: Decade) -> Schedule:
    """Hours are named, so each time is one of the wall clock."""
    minutes, hours = sorted(rng.sample(range(60), rng.randint(1, 3))), sorted(rng.sample(range(5), rng.randint(1, 2)))
    days, fits = _cron_days(rng)
    rule = read_cron(f"{_list(minutes)} {_list(hours)} {days}")
    times = sorted(hour * 3600 + minute * 60 for hour in hours for minute in minutes)
    return Schedule(rule, decade.zone, on_days(decade.days, fits, times, decade.clock))


def cron_every_hour(rng: Random, decade: Decade) -> Schedule:
    """The hour is open, so it counts elapsed time."""
    step, month, day = rng.choice([15, 20, 30, 60]), rng.choice([3, 4, 10]), rng.randint(1, 30)

    def fits(found: Day) -> int | None:
        return 0 if (found.day, found.month) == (day, month) else None

    rule = read_cron(f"*/{step} * {day} {month} *" if step < 60 else f"0 * {day} {month} *")
    return Schedule(rule, decade.zone, while_shown(decade.days, fits, frozenset(range(0, 60, step)), decade.clock))


def interval(rng: Random, decade: Decade) -> Schedule:
    seconds = rng.choice([rng.randint(2, 60) * DAY, rng.randint(100_000, 5_000_000)])
    start = decade.begin - rng.randint(0, seconds - 1)
    times = range(start + seconds, decade.end + seconds, seconds)
    rule = Interval(seconds=seconds, start=datetime.fromtimestamp(start, UTC))
    return Schedule(rule, decade.zone, [Expected(at) for at in times])


def once(rng: Random, decade: Decade) -> Schedule:
    day = rng.choice(decade.days[5:-5]).wall
    wall = rng.choice([day + 60 * rng.randrange(1440), *_hot(rng, decade)])
    at, kind = decade.clock.run_of(wall)
    asked = datetime(1970, 1, 1) + timedelta(seconds=wall)
    return Schedule(Once(wall=asked), decade.zone, [Expected(at, kind)])


Kind = Callable[[Random, Decade], Schedule]
SPARSE: list[Kind] = [every_days, weekly, monthly, nth_of_month, yearly, nth_of_year, cron_on_days, cron_every_hour, interval, once]  # fmt: skip


def _wall(rng: Random, decade: Decade, fits: Fits, most: int = 3, **fields: object) -> Schedule:
    """At one time of the day, or sometimes at up to `most`."""
    times = _times(rng, decade, min(rng.choice([1, 1, 2, 3]), most))
    start = decade.start.date()
    rule = Wall.model_validate({**fields, "start": start, "times": [(datetime.min + timedelta(seconds=each)).time() for each in times]})  # fmt: skip
    since = decade.begin // DAY * DAY
    days = [day for day in decade.days if day.wall >= since]
    return Schedule(rule, decade.zone, on_days(days, fits, times, decade.clock))


def _times(rng: Random, decade: Decade, count: int) -> list[int]:
    """Seconds of the day, at most so many; mostly such as the clock leaves out or shows twice on some day."""
    hot = [each % DAY for each in _hot(rng, decade)]
    return sorted({rng.choice([60 * rng.randrange(1440), 60 * rng.randrange(210), *hot]) for _ in range(count)})  # fmt: skip


def _hot(rng: Random, decade: Decade) -> list[int]:
    """Wall times about a change of the clock."""
    changes = list(zip(decade.clock.starts[1:], decade.clock.offsets, decade.clock.offsets[1:], strict=False))
    if not changes:
        return []
    at, before, after = rng.choice(changes)
    low, high = at + min(before, after), at + max(before, after)
    return [low, high, (low + (high - low) * rng.randrange(100) // 100) // 60 * 60, low - 60]


def _clipped(days: list[int], fits: Callable[[Day], bool]) -> Fits:
    """Rule 7: a missing 29th to 31st is the month's last day."""

    def found(day: Day) -> int | None:
        if not fits(day):
            return None
        if day.day in days or (day.day == day.last and -1 in days):
            return 0
        missing = [each for each in days if each > day.last]
        return min(missing) if missing and day.day == day.last else None

    return found


def _is_nth(day: Day, nth: int, weekdays: tuple[int, ...]) -> int | None:
    if day.weekday not in weekdays:
        return None
    step = range(1, day.day + 1) if nth > 0 else range(day.day, day.last + 1)
    count = sum((day.weekday + other - day.day - 1) % 7 + 1 in weekdays for other in step)
    return 0 if count == abs(nth) else None


def _cron_days(rng: Random) -> tuple[str, Fits]:
    weekday, day, month = rng.randint(1, 7), rng.choice([1, 13, 29, 31]), rng.randint(1, 12)
    choices: list[tuple[str, Fits]] = [
        (f"* * {WEEKDAYS[weekday]}", lambda found: 0 if found.weekday == weekday else None),
        (f"{day} * *", lambda found: 0 if found.day == day else None),
        (f"{day} * {weekday % 7}", lambda found: 0 if found.day == day or found.weekday == weekday else None),
        ("29 2 *", lambda found: 0 if (found.month, found.day) == (2, 29) else None),
        (f"L {month} *", lambda found: 0 if found.month == month and found.day == found.last else None),
        (f"* */3 {WEEKDAYS[weekday]}#2", lambda found: _is_nth(found, 2, (weekday,)) if found.month % 3 == 1 else None),
    ]
    return rng.choice(choices)


def _list(numbers: list[int]) -> str:
    return ",".join(str(each) for each in numbers)
