"""Whether a schedule may be kept, and what to say about it before it is (rules 6, 7, 7a). Everything ends within 100 ms."""

from datetime import datetime

from shared.errors import Refused
from shared.schedules import cron
from shared.schedules.calendar import next_after
from shared.schedules.days import MOST_DAYS
from shared.schedules.domain import Cron, Interval, Once, Wall
from shared.schedules.sentences import Language, month_name, ordinal, written_date
from shared.schedules.telling import line
from shared.schedules.zones import check_zone, fixed_offset

SOONEST_YEAR, LATEST_YEAR = 1970, 8999
_NOTES = {
    "clipped": {
        "en": "in months without a {day} it runs on the month's last day",
        "de": "in Monaten ohne {day} läuft es am letzten Tag des Monats",
    },
    "leap": {
        "en": "29 February is there in leap years only; in other years it runs on 28 February",
        "de": "Den 29. Februar gibt es nur in Schaltjahren; in anderen Jahren läuft es am 28. Februar",
    },
    "fifth": {
        "en": "it runs only in months that have a fifth such day",
        "de": "es läuft nur in Monaten, die einen fünften solchen Tag haben",
    },
    "cron_days": {
        "en": "cron leaves out months without a {day}; write L for the month's last day",
        "de": "cron lässt Monate ohne {day} aus; L steht für den letzten Tag des Monats",
    },
    "sign": {
        "en": "{zone} means {offset}: the sign in these names is the other way round",
        "de": "{zone} bedeutet {offset}: Das Vorzeichen ist in diesen Namen umgekehrt",
    },
}


class Impossible(Refused):
    """A schedule that cannot be kept; `hint` says what to do."""

    default_code = "impossible_schedule"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


def check_rule(
    rule: Once | Interval | Wall | Cron, zone: str, at: datetime, *, language: Language = "en"
) -> tuple[str, ...]:
    """What may surprise, in sentences. Raises Impossible (a date that there is none of, nothing ever comes, in the past), UnknownZone, BadCron."""
    check_zone(zone)
    if isinstance(rule, Once):
        _check_once(rule)
    elif isinstance(rule, Wall):
        _check_wall(rule)
    elif isinstance(rule, Cron):
        cron.read_cron(rule.expression)
    _check_comes(rule, zone, at)
    return tuple(_notes(rule, zone, language))


def _check_once(rule: Once) -> None:
    if (rule.wall is None) == (rule.at is None):
        raise Impossible("one time is either of the wall clock or an instant", "give just one of both")
    when = rule.wall or rule.at
    assert when is not None
    if not SOONEST_YEAR <= when.year <= LATEST_YEAR:
        raise Impossible(f"the year {when.year} is not reckoned with", f"give one from {SOONEST_YEAR} to {LATEST_YEAR}")


def _check_wall(rule: Wall) -> None:
    if any(each.tzinfo is not None for each in rule.times):
        raise Impossible("the times of a schedule are of its zone's wall clock", "give them without an offset")
    if 0 in rule.days or rule.nth == 0:
        raise Impossible("days are counted from 1", "write -1 for the last")
    if rule.nth is not None and (rule.days or not rule.weekdays):
        raise Impossible("the nth day is one of weekdays", "give weekdays and no days of the month")
    _check_dates(rule)


def _check_dates(rule: Wall) -> None:
    if rule.unit != "year":
        return
    month = rule.month or rule.start.month
    for day in rule.days:
        if day > MOST_DAYS[month - 1]:
            name = month_name(month, "en")
            raise Impossible(f"there is no {day} {name} in any year", f"{name} has at most {MOST_DAYS[month - 1]} days")


def _check_comes(rule: Once | Interval | Wall | Cron, zone: str, at: datetime) -> None:
    if next_after(rule, zone, at) is not None:
        return
    if isinstance(rule, Once):
        asked = rule.at if rule.at is not None else next_after(rule, zone, datetime.min.replace(tzinfo=at.tzinfo))
        when = line(asked if isinstance(asked, datetime) else asked.at, zone).local if asked else "that time"
        raise Impossible(f"{when} has passed", "give a time that is still to come")
    if isinstance(rule, Wall) and rule.until is not None:
        raise Impossible(f"nothing comes until {written_date(rule.until, 'en')}", "give a later end")
    raise Impossible("this never comes", "name days that there are")


def _notes(rule: Once | Interval | Wall | Cron, zone: str, language: Language) -> list[str]:
    notes = []
    if isinstance(rule, Wall):
        notes += _notes_of_days(rule, language)
    if isinstance(rule, Cron) and (missing := cron.missing_days(rule.expression)):
        notes.append(_NOTES["cron_days"][language].format(day=ordinal(missing[0], language)))
    if offset := fixed_offset(zone):
        notes.append(_NOTES["sign"][language].format(zone=zone, offset=offset))
    return notes


def _notes_of_days(rule: Wall, language: Language) -> list[str]:
    notes = []
    late = max(rule.days, default=rule.start.day if rule.unit in {"month", "year"} and rule.nth is None else 0)
    if rule.unit == "month" and late > 28:
        notes.append(_NOTES["clipped"][language].format(day=ordinal(late, language)))
    if rule.unit == "year" and late == 29 and (rule.month or rule.start.month) == 2:
        notes.append(_NOTES["leap"][language])
    if rule.nth == 5:
        notes.append(_NOTES["fifth"][language])
    return notes
