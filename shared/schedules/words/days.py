"""Days as people say them: weekdays and their lists, days of a month, the first Monday."""

from shared.schedules.words.dates import check_day
from shared.schedules.words.domain import WEEKEND, WORKDAYS, Day, NotUnderstood, Said
from shared.schedules.words.line import Line
from shared.schedules.words.vocabulary import (
    AND,
    EVERY,
    HABITS,
    MONTHS,
    SHORT_DE_DAYS,
    WEEKDAYS,
    WEEKEND_HABIT,
    WEEKEND_WORDS,
    WORKDAY,
    WORKDAY_HABIT,
)

_DASHES = frozenset("-–—")
_THROUGH = frozenset(("to", "through", "thru", "till", "until", "bis"))
_OF = frozenset(("of", "the", "in", "im", "des", "eines", "vom", "am", "on"))
_MONTH = frozenset(("month", "months", "monat", "monats", "monate"))


def weekday_at(line: Line, at: int) -> int | None:
    """A day of the week by name; short German ones ("Do") in running text only as they are written."""
    key = line.key(at)
    if key in SHORT_DE_DAYS and line.strict:
        return SHORT_DE_DAYS[key] if line.tokens[at].raw[0].isupper() and not line.tokens[at].raw.isupper() else None
    if key in WEEKDAYS:
        return WEEKDAYS[key]
    return HABITS.get(key)


def read_weekdays(line: Line, at: int, said: Said) -> int:
    """Weekdays, lists and ranges of them, weekdays and weekends as such."""
    if line.has(at, WORKDAY) or line.has(at, WORKDAY_HABIT):
        habit = line.has(at, WORKDAY_HABIT)
        return _take(line, at + 1, said, WORKDAYS, habit)
    if line.has(at, WEEKEND_WORDS) or line.has(at, WEEKEND_HABIT):
        habit = line.has(at, WEEKEND_HABIT)
        return _take(line, at + 1, said, WEEKEND, habit)
    if line.key(at) == "unter" and line.key(at + 1) == "der" and line.key(at + 2) == "woche":
        return _take(line, at + 3, said, WORKDAYS, True)
    found, end, habit = weekday_list(line, at + (line.has(at, ("from", "von")) and is_range(line, at + 1)))
    return _take(line, end, said, found, habit) if found else at


def is_range(line: Line, at: int) -> bool:
    """Monday to Friday."""
    joined = line.skip(at + 1, (".",))
    return (
        weekday_at(line, at) is not None
        and (line.has(joined, _DASHES) or line.has(joined, _THROUGH))
        and weekday_at(line, joined + 1) is not None
    )


def weekday_list(line: Line, at: int) -> tuple[tuple[int, ...], int, bool]:
    """The days, where they end, and whether they name a habit by themselves (as a range does)."""
    days: list[int] = []
    habit, end, place = False, at, at
    while (day := weekday_at(line, place)) is not None:
        habit |= line.has(place, HABITS)
        place = line.skip(place + 1, (".",))
        if (line.has(place, _DASHES) or line.has(place, _THROUGH)) and (
            last := weekday_at(line, place + 1)
        ) is not None:
            days.extend((day - 1 + step) % 7 + 1 for step in range((last - day) % 7 + 1))
            habit, place = True, line.skip(place + 2, (".",))
        else:
            days.append(day)
        end = place
        place = line.skip(
            line.skip(place, {",", "/"} | AND),
            {"am", "on", *EVERY} if place < len(line.tokens) and line.key(place) in {",", "/"} | AND else (),
        )
    return tuple(sorted(set(days))), end, habit


def _take(line: Line, end: int, said: Said, days: tuple[int, ...], habit: bool) -> int:
    said.fill(line.lang, weekdays=days)
    said.habit |= habit
    return end


def read_nth(line: Line, at: int, said: Said) -> int:
    """The first Monday, the last weekday, the last day, the first day: of whatever month is said."""
    number = line.ordinal(at)
    if number is None:
        return at
    unit = at + 1
    if line.has(unit, ("day", "tag", "tages", "tage")):
        if number > 31:
            return at
        monthly = said.every is not None and said.every[1] == "month"
        of_year = line.has(line.skip(unit + 1, _OF | EVERY), ("year", "jahres", "jahr"))
        if number > 0 and not (monthly or of_year or _of_month(line, unit + 1)):
            return at
        said.fill(line.lang, days=(number,))
        return unit + 1
    days = WORKDAYS if line.has(unit, WORKDAY) else (weekday_at(line, unit),) if weekday_at(line, unit) else ()
    if not days or (line.kind(at) == "ordinal" and (line.kind(unit) == "mark")):
        return at
    if not -1 <= number <= 5:
        raise NotUnderstood(
            line.say("A month has no such weekday.", "Einen solchen Wochentag hat ein Monat nicht."),
            line.say("Say “the first Monday of the month”, up to the fifth, or the last.", "Sage „am ersten Montag im Monat“, bis zum fünften, oder den letzten."),
        )  # fmt: skip
    said.fill(line.lang, weekdays=days, nth=number)
    return unit + 1


def _of_month(line: Line, at: int) -> bool:
    place = line.skip(at, _OF | EVERY)
    return line.has(place, _MONTH) or line.has(place, MONTHS)


def read_month_days(line: Line, at: int, said: Said) -> int:
    """The 1st and 15th; am 1. und 15."""
    days: list[int] = []
    end = place = at
    while True:
        number = line.ordinal(place)
        if number is None and days and line.kind(place) == "number" and line.number(place) <= 31:
            number = line.number(place)
        if number is None and not days and _day_number(line, place):
            number = line.number(place)
        if number is None or (not days and line.kind(place) == "word" and not _led(line, place)):
            break
        last = number == -1 and bool(days) and line.has(place + 1, ("day", "tag"))
        if not last and not 1 <= number <= 31:
            return at
        days.append(number)
        end = place = place + 1 + (number == -1)
        if not (line.key(place) == "," or line.has(place, AND)):
            break
        place = line.skip(place, {",", "the", "am", "on", "den", "der"} | AND)
    if not days:
        return at
    said.fill(line.lang, days=tuple(dict.fromkeys(days)))
    return end


def _led(line: Line, at: int) -> bool:
    """A word such as "second" is a day of a month only behind an article or before "of the month"."""
    return line.has(at - 1, {"the", "am", "zum", "dem", "vom", "den", *EVERY}) or _of_month(line, at + 1)


def _day_number(line: Line, at: int) -> bool:
    """A bare number that an article makes a day: "on the 15", "am 15", "jeden 15"; not before what makes it a time."""
    if (
        line.kind(at) != "number"
        or not 1 <= line.number(at) <= 31
        or not line.has(at - 1, ("am", "the", "den", "jeden", "zum", "vom"))
    ):
        return False
    return not line.has(at + 1, ("uhr", "am", "pm", "o'clock")) and not line.has(
        at + 1, ("minuten", "stunden", "tage", "wochen", "minutes", "hours", "days", "weeks")
    )


def read_of_month(line: Line, at: int, said: Said) -> int:
    """“of the month”, “im Monat”, “jedes Monats”, “of every month”, “this month”: only after what it belongs to."""
    if not (said.days or said.nth):
        return at
    place = line.skip(at, _OF)
    every = place
    if line.has(place, ("this", "dieses", "diesen", "diesem", "next", "naechsten", "kommenden")):
        if not line.has(place + 1, _MONTH):
            return at
        said.fill(line.lang, coming=(1 if line.has(place, ("next", "naechsten", "kommenden")) else 0, "month"))
        return place + 2
    place = line.skip(place, EVERY)
    if line.has(place, ("year", "jahres", "jahr")) and place > at and said.days in ((1,), (-1,)):
        said.fill(line.lang, month=1 if said.days == (1,) else 12)
        said.recurring |= place > every
        return place + 1
    if not line.has(place, _MONTH) or (place == at):
        return at
    said.monthly = True
    said.recurring |= place > every
    return place + 1


def read_month_end(line: Line, at: int, said: Said) -> int:
    """The end of the month, Monatsende, zum Monatsanfang."""
    if line.has(at, ("monatsende", "monatsletzten", "monatsultimo", "ultimo")):
        said.fill(line.lang, days=(-1,), monthly=True)
        return at + 1
    if line.has(at, ("monatsanfang", "monatsersten")):
        said.fill(line.lang, days=(1,), monthly=True)
        return at + 1
    begin = line.skip(at, ("at", "by", "the"))
    if line.has(begin, ("end", "ende", "start", "beginning", "anfang")):
        place = line.skip(begin + 1, _OF)
        every = line.skip(place, EVERY)
        if line.has(every, _MONTH) and every > begin + 1:
            said.fill(line.lang, days=(-1 if line.has(begin, ("end", "ende")) else 1,), monthly=True)
            said.recurring |= every > place
            return every + 1
    return at


def read_month(line: Line, at: int, said: Said) -> int:
    """A month that days belong to: “the last Sunday of March”."""
    place = line.skip(at, _OF | EVERY)
    if not (said.days or said.nth) or not line.has(place, MONTHS):
        return at
    said.recurring |= any(line.has(each, EVERY) for each in range(at, place))
    said.fill(line.lang, month=MONTHS[line.key(place)])
    for day in said.days:
        check_day(line, Day(said.month or 1, day))
    return line.skip(place + 1, (".",))
