"""A rule in words of English or German, so that a person sees what was understood (rule 7a). The words say the same when they are read again."""

from datetime import date, time, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from shared.schedules.days import days_from
from shared.schedules.domain import Cron, Interval, Once, Wall
from shared.schedules.sentences import clock, month_name, ordinal, written_date
from shared.schedules.words.domain import WEEKEND, WORKDAYS, Lang

_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
}
_NTH = {
    "en": {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"},
    "de": {1: "ersten", 2: "zweiten", 3: "dritten", 4: "vierten", 5: "fünften", -1: "letzten"},
}
_UNITS = {"en": {"day": "days", "week": "weeks", "month": "months", "year": "years"}, "de": {"day": "Tage", "week": "Wochen", "month": "Monate", "year": "Jahre"}}  # fmt: skip
_SIZES = (
    (3600, ("hour", "hours"), ("jede Stunde", "Stunden")),
    (60, ("minute", "minutes"), ("jede Minute", "Minuten")),
    (1, ("second", "seconds"), ("jede Sekunde", "Sekunden")),
)
_FULL_HOURS = [time(hour) for hour in range(24)]


def describe(rule: Once | Interval | Wall | Cron, zone: str, language: Lang = "en", *, begins: bool = False) -> str:
    """One line, without the zone's name. `begins`: it also says from when on, as it always does where that decides which days are meant."""
    if isinstance(rule, Once):
        return _once(rule, zone, language)
    if isinstance(rule, Interval):
        return _interval(rule, zone, language)
    if isinstance(rule, Wall):
        return _wall(rule, language, begins)
    if isinstance(rule, Cron):
        return f"cron {rule.expression}"
    assert_never(rule)


def _once(rule: Once, zone: str, language: Lang) -> str:
    wall = rule.wall or (rule.at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) if rule.at else None)
    assert wall is not None, "a rule of one time has one"
    if language == "de":
        return f"einmal am {_day(wall.date(), 'de')} um {clock(wall.time())} Uhr"
    return f"once on {_day(wall.date(), 'en')} at {clock(wall.time())}"


def _day(day: date, language: Lang) -> str:
    return f"{_DAYS[language][day.weekday()]}, {written_date(day, language)}"


def _interval(rule: Interval, zone: str, language: Lang) -> str:
    size, english, german = next(each for each in _SIZES if rule.seconds % each[0] == 0)
    number = rule.seconds // size
    first = (rule.start + timedelta(seconds=rule.seconds)).replace(microsecond=0).astimezone(ZoneInfo(zone))
    if language == "de":
        return f"{german[0] if number == 1 else f'alle {number} {german[1]}'}, zuerst um {clock(first.time())} Uhr am {written_date(first.date(), 'de')}"  # fmt: skip
    return f"every {english[0] if number == 1 else f'{number} {english[1]}'}, first at {clock(first.time())} on {written_date(first.date(), 'en')}"


def _wall(rule: Wall, language: Lang, begins: bool) -> str:
    days = {"day": _daily, "week": _weekly, "month": _monthly, "year": _yearly}[rule.unit](rule, language)
    if rule.unit == "day" and rule.every == 1 and sorted(rule.times) == _FULL_HOURS:
        words = "jede volle Stunde" if language == "de" else "every hour on the hour"
    else:
        words = f"{days} {_times(rule, language)}"
    if rule.every > 1 or begins:
        first, _ = next(days_from(rule, rule.start), (rule.start, 0))
        words += f", ab {_day(first, 'de')}" if language == "de" else f", from {_day(first, 'en')} on"
    if rule.until:
        words += (
            f", bis {written_date(rule.until, 'de')}"
            if language == "de"
            else f", until {written_date(rule.until, 'en')}"
        )
    return words


def _times(rule: Wall, language: Lang) -> str:
    times = joined([clock(each) for each in sorted(rule.times)], language)
    return f"um {times} Uhr" if language == "de" else f"at {times}"


def _daily(rule: Wall, language: Lang) -> str:
    if rule.every == 1:
        return "jeden Tag" if language == "de" else "every day"
    return _every(rule, language)


def _every(rule: Wall, language: Lang) -> str:
    return f"{'alle' if language == 'de' else 'every'} {rule.every} {_UNITS[language][rule.unit]}"


def _weekly(rule: Wall, language: Lang) -> str:
    wanted = tuple(sorted(set(rule.weekdays))) or (rule.start.isoweekday(),)
    names = joined([_DAYS[language][each - 1] for each in wanted], language)
    if rule.every > 1:
        return f"{_every(rule, language)} {'am' if language == 'de' else 'on'} {names}"
    if wanted == WORKDAYS:
        return "von Montag bis Freitag" if language == "de" else "every Monday to Friday"
    if wanted == WEEKEND:
        return "jeden Samstag und Sonntag" if language == "de" else "every Saturday and Sunday"
    return f"{'jeden' if language == 'de' else 'every'} {names}"


def _monthly(rule: Wall, language: Lang) -> str:
    days = _days_of(rule, language)
    if language == "de":
        return f"{_every(rule, 'de')} am {days}" if rule.every > 1 else f"am {days} jedes Monats"
    return f"{_every(rule, 'en')} on the {days}" if rule.every > 1 else f"on the {days} of every month"


def _yearly(rule: Wall, language: Lang) -> str:
    month = month_name(rule.month or rule.start.month, language)
    dated = rule.nth is None and all(day > 0 for day in rule.days)
    if language == "de":
        head = _every(rule, "de") if rule.every > 1 else "jedes Jahr"
        return f"{head} am {_days_of(rule, 'de')}{' ' if dated else ' im '}{month}"
    head = _every(rule, "en") if rule.every > 1 else "every year"
    return f"{head} on the {_days_of(rule, 'en')} of {month}"


def _days_of(rule: Wall, language: Lang) -> str:
    if rule.nth is not None:
        wanted = tuple(sorted(set(rule.weekdays)))
        name = ("Werktag" if language == "de" else "weekday") if wanted == WORKDAYS else joined([_DAYS[language][each - 1] for each in wanted], language)  # fmt: skip
        return f"{_NTH[language][rule.nth]} {name}"
    last = "letzten Tag" if language == "de" else "last day"
    return joined([last if day < 0 else ordinal(day, language) for day in rule.days or (rule.start.day,)], language)


def joined(words: list[str], language: Lang) -> str:
    """a, b and c"""
    last = " und " if language == "de" else " and "
    return last.join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
