"""What is said about a time that is not quite what was asked for (rules 6, 7), in English and German."""

from datetime import date, datetime, time
from typing import Literal

Language = Literal["en", "de"]
_MONTHS = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
}
_SENTENCES = {
    "gap": {
        "en": "{asked} does not exist on {day} (the clocks go forward); it runs at {runs}",
        "de": "{asked} gibt es am {day} nicht (die Uhren werden vorgestellt); es läuft um {runs}",
    },
    "day_gone": {
        "en": "{day} does not exist in this zone (the calendar skips it); it runs at {runs}",
        "de": "Den {day} gibt es in dieser Zeitzone nicht (der Kalender überspringt ihn); es läuft um {runs}",
    },
    "twice": {
        "en": "{asked} comes twice on {day} (the clocks go back); it runs at the first",
        "de": "{asked} kommt am {day} zweimal (die Uhren werden zurückgestellt); es läuft beim ersten Mal",
    },
    "short_month": {
        "en": "there is no {asked} in {month}; it runs on the {runs}",
        "de": "{month} hat keinen {asked}; es läuft am {runs}",
    },
}  # fmt: skip


def of_clock(shift: str, asked: datetime, runs: datetime, language: Language) -> str:
    """`shift` is gap, day_gone or twice; both times are what the wall's clock shows or should."""
    at = clock(runs.time())
    if runs.date() != asked.date():
        at += f" {'am' if language == 'de' else 'on'} {written_date(runs.date(), language)}"
    return _say(shift, language, asked=clock(asked.time()), day=written_date(asked.date(), language), runs=at)


def of_short_month(asked: int, day: date, language: Language) -> str:
    month = f"{_MONTHS[language][day.month - 1]} {day.year}"
    return _say("short_month", language, asked=ordinal(asked, language), month=month, runs=ordinal(day.day, language))


def clock(at: time) -> str:
    return at.strftime("%H:%M:%S" if at.second else "%H:%M")


def written_date(day: date, language: Language) -> str:
    return f"{day.day}{'.' if language == 'de' else ''} {_MONTHS[language][day.month - 1]} {day.year}"


def month_name(month: int, language: Language) -> str:
    return _MONTHS[language][month - 1]


def ordinal(day: int, language: Language) -> str:
    if language == "de":
        return f"{day}."
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _say(key: str, language: Language, **values: str) -> str:
    return _SENTENCES[key][language].format(**values)
