"""What repeats, and how far ahead: every two weeks, täglich, in 10 minutes, tomorrow, next week."""

from shared.schedules.words.days import weekday_at
from shared.schedules.words.domain import NotUnderstood, Said, Unit
from shared.schedules.words.line import Line
from shared.schedules.words.vocabulary import (
    ADVERBS,
    AND,
    ARTICLES,
    COMING,
    EVERY,
    HALVES,
    MONTHS,
    NUMBERS,
    ORDINALS,
    OTHER,
    PARTS,
    THIS,
    UNITS,
    WORKDAY,
)

_AHEAD = {"today": 0, "heute": 0, "tonight": 0, "tomorrow": 1, "morgen": 1, "uebermorgen": 2}


def number_at(line: Line, at: int) -> tuple[float | None, int]:
    """10, ten, 1.5, 1,5, anderthalb, an, half an; a quarter of an; eine halbe."""
    kind, key = line.kind(at), line.key(at)
    if (
        (kind == "number" or key in NUMBERS)
        and line.has(at + 1, AND)
        and line.key(at + 2) == "a"
        and line.key(at + 3) == "half"
    ):
        return (line.number(at) if kind == "number" else NUMBERS[key]) + 0.5, at + 4
    if kind == "number":
        return float(line.number(at)), at + 1
    if kind == "dotted":
        return float(line.tokens[at].raw.replace(",", ".")), at + 1
    if key in HALVES:
        return HALVES[key], at + 1
    place = line.skip(at, ARTICLES)
    if line.has(place, ("half", "halbe", "halben", "halbes")):
        return 0.5, line.skip(place + 1, ("a", "an"))
    if line.has(place, ("quarter",)) and line.has(line.skip(place + 1, ("of", "an", "a")), ("hour",)):
        return 0.25, line.skip(place + 1, ("of", "an", "a"))
    if key in NUMBERS:
        return float(NUMBERS[key]), at + 1
    return None, at


def read_length(line: Line, at: int) -> tuple[list[tuple[float, Unit]], int]:
    """10 minutes; 1 hour and 30 minutes; eine Viertelstunde; 2 Stunden 15 Minuten."""
    found: list[tuple[float, Unit]] = []
    end = place = at
    while True:
        place_of = line.skip(place, ARTICLES)
        if line.has(place_of, ("viertelstunde", "dreiviertelstunde")):
            found.append((0.25 if line.has(place_of, ("viertelstunde",)) else 0.75, "hour"))
            end = place_of + 1
        else:
            number, unit = number_at(line, place)
            if number is None or not line.has(unit, UNITS):
                break
            found.append((number, UNITS[line.key(unit)]))
            end = unit + 1
            if line.key(end) in AND and line.has(end + 1, ("a",)) and line.has(end + 2, ("half",)):
                found[-1], end = (number + 0.5, found[-1][1]), end + 3
        place = line.skip(end, {",", *AND})
    return found, end


def read_offset(line: Line, at: int, said: Said) -> int:
    """in 10 minutes; 10 minutes from now; in einer halben Stunde."""
    led = line.has(at, ("in", "after", "nach"))
    found, end = read_length(line, line.skip(at + 1, ("exactly", "genau")) if led else at)
    if not found:
        return at
    if line.key(end) == "from" and line.key(end + 1) == "now":
        end += 2
    elif line.has(end, ("hence",)) and not led:
        end += 1
    elif not led:
        return at
    said.fill(line.lang, offset=found)
    return end


def read_every(line: Line, at: int, said: Said) -> int:
    """every 2 weeks, every other Monday, jeden zweiten Tag, alle 10 Minuten, every morning; else what is next repeats."""
    if not line.has(at, EVERY):
        return _once_a(line, at, said)
    place = line.skip(at + 1, ("single", "einzelnen", "einzelne", "full", "volle", "vollen"))
    full = line.has(place - 1, ("full", "volle", "vollen"))
    if full and line.has(place, ("hour", "stunde")):
        said.fill(line.lang, every=(1, "hour"), full=True)
        return place + 1
    lengths, end = read_length(line, place)
    if lengths:
        return _every_length(line, end, said, lengths)
    second = line.has(place, ("second",)) and (line.has(place + 1, UNITS) or weekday_at(line, place + 1) is not None)
    if line.has(place, UNITS) and not second:
        said.fill(line.lang, every=(1, UNITS[line.key(place)]), recurring=True)
        on_it = line.key(place) == "hour" and line.key(place + 1) == "on" and line.key(place + 3) == "hour"
        said.full |= on_it
        return place + (4 if on_it else 1)
    if line.has(place, ("quarter", "quartal")):
        said.fill(line.lang, every=(3, "month"), recurring=True, quarterly=True)
        return place + 1
    return _every_other(line, place, said)


def _once_a(line: Line, at: int, said: Said) -> int:
    """Once a week, einmal pro Monat."""
    place = line.skip(at + 1, ("a", "an", "per", "pro", "im", "am", "in", "the", "der", "die", "each", "every"))
    counts = line.has(at, ("once", "einmal")) and place > at + 1
    if not counts or not line.has(place, UNITS) or line.has(place, ("second", "seconds")):
        return at
    said.fill(line.lang, every=(1, UNITS[line.key(place)]), recurring=True)
    return place + 1


def _every_length(line: Line, end: int, said: Said, lengths: list[tuple[float, Unit]]) -> int:
    seconds = {"second": 1, "minute": 60, "hour": 3600}
    if len(lengths) > 1:
        if any(unit not in seconds for _, unit in lengths):
            raise NotUnderstood(line.say("That is no interval that can be kept.", "Das ist kein Abstand, der sich einhalten lässt."), line.say("Say “every 90 minutes” or “every 2 days”.", "Sage „alle 90 Minuten“ oder „alle 2 Tage“."))  # fmt: skip
        lengths = [(sum(number * seconds[unit] for number, unit in lengths), "second")]
    said.fill(line.lang, every=lengths[0], recurring=True)
    return end


def _every_other(line: Line, at: int, said: Said) -> int:
    """every other day, every second Monday, jeden dritten Tag; alone it marks what follows as repeating."""
    said.recurring = True
    number = 2 if line.has(at, OTHER) else line.ordinal(at)
    if number is not None and number > 0 and line.has(at + 1, UNITS) and not _belongs_to_month(line, at + 2):
        said.fill(line.lang, every=(number, UNITS[line.key(at + 1)]))
        return at + 2
    if (
        number is not None
        and number > 1
        and weekday_at(line, at + 1) is not None
        and not _belongs_to_month(line, at + 2)
    ):
        if number > 2:
            raise NotUnderstood(
                line.say("That can be every so many weeks, or a weekday of each month.", "Das kann alle so viele Wochen heißen oder ein Wochentag jedes Monats."),
                line.say("Say “every 3 weeks on Monday” or “the third Monday of the month”.", "Sage „alle 3 Wochen am Montag“ oder „am dritten Montag im Monat“."),
            )  # fmt: skip
        said.fill(line.lang, every=(2, "week"))
        said.alternate = not line.has(at, ("other",))
        return at + 1
    if line.has(at, MONTHS) and line.kind(at + 1) not in ("number", "ordinal") and line.key(at + 1) not in ORDINALS:
        said.fill(line.lang, month=MONTHS[line.key(at)])
        return at + 1
    if line.has(at, PARTS) or line.has(at, ("morgen",)):
        said.fill(line.lang, every=(1, "day"), part="morning" if line.has(at, ("morgen",)) else PARTS[line.key(at)])
        return at + 1
    return at


def _belongs_to_month(line: Line, at: int) -> bool:
    place = line.skip(at, {"of", "in", "im", "des", "the", "eines", *EVERY})
    return place > at and (line.has(place, ("month", "monat", "monats")) or line.has(place, MONTHS))


def read_adverb(line: Line, at: int, said: Said) -> int:
    """täglich, hourly, fortnightly; 14-tägig."""
    if (
        line.kind(at) == "number"
        and line.has(at + 1, "-")
        and line.has(at + 2, ("taegig", "taegiger", "woechentlich", "stuendlich", "minuetig", "monatlich"))
    ):
        unit: Unit = {"t": "day", "w": "week", "s": "hour", "m": "minute"}[line.key(at + 2)[0]]  # type: ignore[assignment]
        unit = "month" if line.key(at + 2) == "monatlich" else unit
        said.fill(line.lang, every=(float(line.number(at)), unit), recurring=True)
        return at + 3
    if line.has(at, ("biweekly", "bimonthly")):
        raise NotUnderstood(
            f"“{line.tokens[at].raw}” can be twice in it, or every other one.",
            "Say “every two weeks”, “every two months”, or name both days.",
        )
    if not line.has(at, ADVERBS):
        return at
    said.fill(line.lang, every=ADVERBS[line.key(at)], recurring=True)
    return at + 1


def read_ahead(line: Line, at: int, said: Said) -> int:
    """today, tonight, tomorrow morning, übermorgen, the day after tomorrow, next week, next Friday, heute in einer Woche."""
    if line.key(at) == "day" and line.key(at + 1) == "after" and line.key(at + 2) == "tomorrow":
        said.fill(line.lang, ahead=2)
        return at + 3
    if line.has(at, _AHEAD):
        return _day_ahead(line, at, said)
    if line.has(at, THIS) and (line.has(at + 1, PARTS) or line.has(at + 1, ("morgen",))):
        part = "morning" if line.has(at + 1, ("morgen",)) else PARTS[line.key(at + 1)]
        said.fill(line.lang, ahead=0, part=part)
        return at + 2
    if line.has(at, COMING) or line.has(at, THIS):
        return read_coming(line, at, said)
    return at


def _day_ahead(line: Line, at: int, said: Said) -> int:
    key = line.key(at)
    if key == "morgen" and (line.has(at - 1, ("am",)) or (said.weekdays and not said.ahead)):
        said.fill(line.lang, part="morning")
        return at + 1
    said.fill(line.lang, ahead=_AHEAD[key])
    if key == "tonight":
        said.fill(line.lang, part="evening")
        return at + 1
    if key == "heute" and line.has(at + 1, ("morgen",)):
        said.fill(line.lang, part="morning")
        return at + 2
    return at + 1


def read_coming(line: Line, at: int, said: Said) -> int:
    """next/this + week, month, year; next before a weekday is the first one after today."""
    steps = 1 if line.has(at, COMING) else 0
    if line.has(at + 1, ("week", "woche", "month", "monat", "monats", "year", "jahr", "jahres")):
        said.fill(line.lang, coming=(steps, UNITS[line.key(at + 1)]))
        return at + 2
    if weekday_at(line, at + 1) is not None:
        said.fill(line.lang, coming=(steps, "day"))
        return at + 1
    if line.has(at + 1, WORKDAY):
        said.fill(line.lang, coming=(1, "day"))
        return at + 1
    return at
