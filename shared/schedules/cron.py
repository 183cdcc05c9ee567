"""Cron expressions: five fields, as cron has them, with the names, `L` and `#` that cronsim reads (decision 0037).

An expression that leaves the hour open ("*/15 * * * *") counts elapsed time, as an interval does: it goes on through an hour that comes twice. Any other names
times of the wall clock, and those follow rule 6.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from shared.errors import Refused
from shared.schedules.domain import Cron

WRITTEN_OUT = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
_BOUNDS = (
    "0 to 59",
    "0 to 23",
    "1 to 31 or L",
    "1 to 12 or JAN to DEC",
    "0 to 7 or SUN to SAT (both 0 and 7 are Sunday)",
)
LONGEST = 200
_ANY = datetime(2000, 1, 1)
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class BadCron(Refused):
    """Not an expression, or one that never comes; `hint` says what to write."""

    default_code = "bad_cron"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


def read_cron(expression: str) -> Cron:
    """The expression with `@daily` and the like written out and single blanks. Raises BadCron, also for one that never comes ("0 0 31 2 *")."""
    if len(expression) > LONGEST:
        raise BadCron(f"a cron expression has at most {LONGEST} characters", "make several schedules of it")
    written = WRITTEN_OUT.get(expression.strip().lower(), expression)
    fields = written.upper().split()
    if written.lstrip().startswith("@"):
        raise BadCron(f"{written.strip()} is none of cron's names", f"there are {', '.join(WRITTEN_OUT)}")
    if len(fields) != len(FIELDS):
        seconds = "; seconds cannot be given" if len(fields) == len(FIELDS) + 1 else ""
        raise BadCron(
            f"this has {len(fields)} fields{seconds}", f"a cron expression has five: {', '.join(FIELDS)}, such as 30 7 * * MON-FRI"
        )  # fmt: skip
    for number in range(len(FIELDS)):
        _check_field(number, fields[number])
    expression = " ".join(fields)
    if not comes(expression):
        raise BadCron(f"{expression} never comes", _why_never(fields[3]))
    return Cron(expression=expression)


def comes(expression: str) -> bool:
    """Whether a day of some year matches. Each kind of year (its first weekday, leap or not) is looked at once."""
    return _day_comes(tuple(expression.upper().split()[2:]))


def leaves_hour_open(expression: str) -> bool:
    minute, hour, *_ = expression.split()
    return len(_sim(f"{minute} {hour} * * *", _ANY).hours) == 24


def walls(expression: str, after: datetime) -> Iterator[datetime]:
    """Wall times strictly after that one, increasing; of a calendar that knows no zone. Nothing for an expression that never comes."""
    return iter(_sim(expression, after)) if comes(expression) else iter(())


def elapsed(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Instants (UTC) strictly after that one at which the clock shows a time of the expression, however often it shows it."""
    if not comes(expression):
        return iter(())
    minute, _, *days = expression.split()
    # a star for the hour, however it was written, is what cronsim takes for elapsed time
    sim = _sim(" ".join([minute, "*", *days]), after.astimezone(zone))
    return (each.astimezone(UTC) for each in sim)


def missing_days(expression: str) -> tuple[int, ...]:
    """Days of the month from 29 on that it names and some of its months have not: there it does not come."""
    sim = _sim(expression, _ANY)
    named = {day for day in sim.days if day > 28} if sim.day_and and len(sim.days & set(range(1, 29))) == 0 else set()
    short = min(28 if month == 2 else _LONGEST_MONTHS[month - 1] for month in sim.months)
    return tuple(sorted(day for day in named if day > short))


def _sim(expression: str, after: datetime) -> CronSim:
    try:
        return CronSim(expression, after)
    except CronSimError as error:
        raise BadCron(f"{expression} is no cron expression: {str(error).lower()}", "write it anew") from None


def _check_field(number: int, field: str) -> None:
    try:
        CronSim(" ".join([*["*"] * number, field, *["*"] * (len(FIELDS) - 1 - number)]), _ANY)
    except (CronSimError, AssertionError, ValueError, TypeError):
        raise BadCron(
            f"{field} is no {FIELDS[number]} of a cron expression", f"write * or {_BOUNDS[number]}, with commas, ranges and */steps"
        ) from None  # fmt: skip


@lru_cache(maxsize=4096)
def _day_comes(fields: tuple[str, ...]) -> bool:
    try:
        sim = CronSim(f"0 0 {' '.join(fields)}", _ANY)
    except CronSimError:
        return False
    for year in range(2000, 2028):
        day = datetime(year, 1, 1)
        while day.year == year:
            if day.month in sim.months and sim.match_day(day.date()):
                return True
            day += timedelta(days=1)
    return False


def _why_never(month: str) -> str:
    if month != "*":
        return "no such day is in such a month: name a day that the month has"
    return "name a day that some month has"
