"""The days of a wall-clock schedule (rule 7): pure dates, without times and zones."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from shared.schedules.domain import Wall

LAST_YEAR = 9000
MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Of the months, in a leap year."""
Day = tuple[date, int]
"""A day, and the day of the month that was asked for where the month has none such (29 to 31), else 0."""


def days_from(rule: Wall, first: date) -> Iterator[Day]:
    """Increasing, from `first` or the rule's start on, whichever is later, up to its `until`; each once."""
    first = max(first, rule.start)
    found = {"day": _each_day, "week": _each_week, "month": _each_month, "year": _each_year}[rule.unit](rule, first)
    for day, asked in found:
        if rule.until is not None and day > rule.until:
            return
        if day >= first:
            yield day, asked


def _each_day(rule: Wall, first: date) -> Iterator[Day]:
    behind = -(-(first - rule.start).days // rule.every)
    day = rule.start + timedelta(days=behind * rule.every)
    while day.year < LAST_YEAR:
        yield day, 0
        day += timedelta(days=rule.every)


def _each_week(rule: Wall, first: date) -> Iterator[Day]:
    """Weeks begin on Monday."""
    wanted = sorted(set(rule.weekdays)) or [rule.start.isoweekday()]
    monday = rule.start - timedelta(days=rule.start.weekday())
    monday += timedelta(weeks=(first - monday).days // 7 // rule.every * rule.every)
    while monday.year < LAST_YEAR:
        for weekday in wanted:
            yield monday + timedelta(days=weekday - 1), 0
        monday += timedelta(weeks=rule.every)


def _each_month(rule: Wall, first: date) -> Iterator[Day]:
    start = rule.start.year * 12 + rule.start.month - 1
    month = start + (first.year * 12 + first.month - 1 - start) // rule.every * rule.every
    while month < LAST_YEAR * 12:
        yield from _of_month(rule, month // 12, month % 12 + 1)
        month += rule.every


def _each_year(rule: Wall, first: date) -> Iterator[Day]:
    year = rule.start.year + (first.year - rule.start.year) // rule.every * rule.every
    month = rule.month or rule.start.month
    while year < LAST_YEAR:
        yield from (each for each in _of_month(rule, year, month) if each[1] <= MOST_DAYS[month - 1])
        year += rule.every


def _of_month(rule: Wall, year: int, month: int) -> list[Day]:
    if rule.nth is not None:
        return _nth(rule, year, month)
    last = monthrange(year, month)[1]
    found: dict[int, int] = {}
    for asked in sorted(day for day in set(rule.days or (rule.start.day,)) if day):
        day = last if asked < 0 else min(asked, last)
        found.setdefault(day, asked if asked > last else 0)
    return [(date(year, month, day), asked) for day, asked in sorted(found.items())]


def _nth(rule: Wall, year: int, month: int) -> list[Day]:
    """The nth of the days that are one of the weekdays: with Monday to Friday and -1, the last working day."""
    first, last = monthrange(year, month)
    fitting = [day for day in range(1, last + 1) if (first + day - 1) % 7 + 1 in rule.weekdays]
    number = rule.nth or 0
    if number == 0 or abs(number) > len(fitting):
        return []
    return [(date(year, month, fitting[number - 1 if number > 0 else number]), 0)]
