"""Dates in many spellings: 15.12., 15 Dec, Dec 15th, 2026-12-15; and whether there is such a day (rule 7)."""

import calendar
import re

from shared.schedules.sentences import month_name
from shared.schedules.words.domain import Day, NotUnderstood, Said
from shared.schedules.words.line import Line
from shared.schedules.words.vocabulary import EVERY, MONTHS

_DATE_LEADS = frozenset(
    ("on", "the", "am", "den", "der", "dem", "vom", "zum", "bis", "until", "till", "ab", "from", "starting", *EVERY)
)
FIRST_YEAR, LAST_YEAR = 1900, 9999


def read_date(line: Line, at: int, said: Said) -> int:
    """15.12., 15 Dec, Dec 15th, December 15, 2026, 2026-12-15, the 15th of December, 12/15/2026."""
    for read in (_numeric_date, _day_month, _month_day):
        day, end = read(line, at)
        if day is not None:
            check_day(line, day)
            said.fill(line.lang, date=day)
            return end
    return at


def _numeric_date(line: Line, at: int) -> tuple[Day | None, int]:
    kind = line.kind(at)
    if kind == "iso":
        year, month, day = (int(each) for each in line.tokens[at].raw.upper().rstrip("T").split("-"))
        return Day(month, day, year), at + 1
    if kind == "date":
        numbers = [int(each) for each in re.findall("[0-9]+", line.tokens[at].raw)]
        year_end = at + 1
        if len(numbers) == 2 and _year(line, at + 1):
            numbers, year_end = [*numbers, line.number(at + 1)], at + 2
        return Day(numbers[1], numbers[0], _century(numbers[2]) if len(numbers) == 3 else None), year_end
    if kind == "dotted" and "." in line.tokens[at].raw and line.has(at - 1, _DATE_LEADS):
        numbers = [int(each) for each in line.tokens[at].raw.split(".")]
        return Day(numbers[1], numbers[0]), at + 1
    if kind == "slash":
        return _slashed(line, at)
    return None, at


def _slashed(line: Line, at: int) -> tuple[Day | None, int]:
    numbers = [int(each) for each in line.tokens[at].raw.split("/")]
    first, second = numbers[:2]
    year = numbers[2] if len(numbers) == 3 else None
    if first > 12 >= second:
        return Day(second, first, year), at + 1
    if second > 12 >= first:
        return Day(first, second, year), at + 1
    shown = line.tokens[at].raw
    raise NotUnderstood(
        line.say(f"{shown} can be two dates.", f"{shown} kann zweierlei sein."),
        line.say("Name the month, such as “15 December”, or write 2026-12-15.", "Nenne den Monat, etwa „15. Dezember“, oder schreibe 15.12.2026."),
    )  # fmt: skip


def _day_month(line: Line, at: int) -> tuple[Day | None, int]:
    number = line.number(at) if line.kind(at) == "number" else line.ordinal(at)
    if number is None or (number == -1 or number > 99):
        return None, at
    place = line.skip(at + 1, ("of", "."))
    if not line.has(place, MONTHS):
        return None, at
    month, end = MONTHS[line.key(place)], line.skip(place + 1, (".",))
    year, end = _with_year(line, end)
    return Day(month, number, year), end


def _month_day(line: Line, at: int) -> tuple[Day | None, int]:
    if not line.has(at, MONTHS):
        return None, at
    place = line.skip(at + 1, (".", "the"))
    number = line.number(place) if line.kind(place) == "number" else line.ordinal(place)
    marked = line.has(place + 1, ("uhr", "am", "pm", "o'clock")) and line.kind(place) == "number"
    if number is None or marked or not 0 <= number <= 99:
        return None, at
    year, end = _with_year(line, place + 1)
    return Day(MONTHS[line.key(at)], number, year), end


def _with_year(line: Line, at: int) -> tuple[int | None, int]:
    place = at + 1 if line.key(at) == "," and _year(line, at + 1) else at
    return (line.number(place), place + 1) if _year(line, place) else (None, at)


def _year(line: Line, at: int) -> bool:
    return (
        line.kind(at) == "number"
        and len(line.tokens[at].raw) == 4
        and FIRST_YEAR <= line.number(at) <= LAST_YEAR
        and not line.has(at + 1, ("uhr",))
    )


def _century(year: int) -> int:
    return 2000 + year if year < 100 else year


def check_day(line: Line, day: Day) -> None:
    """Raises NotUnderstood for a day that its month never has (rule 7), or not in that year."""
    if not 1 <= day.month <= 12:
        raise NotUnderstood(line.say("There is no such month.", "Diesen Monat gibt es nicht."), line.say("Months go from 1 to 12.", "Monate gehen von 1 bis 12."))  # fmt: skip
    longest = 29 if day.month == 2 else calendar.monthrange(2001, day.month)[1]
    if day.year is not None and FIRST_YEAR <= day.year <= LAST_YEAR:
        longest = calendar.monthrange(day.year, day.month)[1]
    if day.day == -1 or 1 <= day.day <= longest:
        return
    name, year = month_name(day.month, line.lang), f" {day.year}" if day.year else ""
    raise NotUnderstood(
        line.say(f"There is no {day.day} {name}{year}.", f"Den {day.day}. {name}{year} gibt es nicht."),
        line.say(f"{name}{year} has {longest} days; “the last day of {name}” is one that there is.", f"Der {name}{year} hat {longest} Tage; „am letzten Tag im {name}“ gibt es immer."),
    )  # fmt: skip
