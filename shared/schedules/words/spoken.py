"""Times of day told by the hour that they are near: halb acht, viertel nach sieben, half past seven, ten to eight."""

from datetime import time

from shared.schedules.words.domain import Clock, NotUnderstood
from shared.schedules.words.line import Line
from shared.schedules.words.vocabulary import NUMBERS, UNITS

MARKERS = frozenset(("uhr", "o'clock", "oclock", "hours"))
_PAST, _BEFORE = frozenset(("past", "after", "nach")), frozenset(("to", "before", "vor"))
_PARTS = {"halb": -30, "dreiviertel": -15, "viertel": -45}
"""Minutes to the hour that follows: halb acht is 7:30, viertel acht 7:15."""


def read_spoken(line: Line, at: int, lead: bool) -> tuple[Clock | None, int]:
    place = line.skip(at, ("a",)) if line.key(at + 1) == "quarter" else at
    key, hour = line.key(place), _hour(line, place + 1)
    if key in _PARTS and hour is not None:
        return _moved(hour, _PARTS[key]), line.skip(place + 2, MARKERS)
    if key == "half" and line.has(place + 1, ("past", "after")) and (hour := _hour(line, place + 2)) is not None:
        return _moved(hour, 30), place + 3
    if key == "half" and hour is not None and not line.has(place + 1, ("a", "an")):
        raise NotUnderstood(
            line.say(
                "“Half seven” is 7:30 to some and 6:30 to others.", "„Half seven“ ist für manche 7:30, für andere 6:30."
            ),
            line.say("Say “half past seven” or 7:30.", "Sage „halb acht“ oder 7:30."),
        )
    return _by_minutes(line, place)


def _by_minutes(line: Line, at: int) -> tuple[Clock | None, int]:
    """Ten past seven, quarter to 8, zehn Minuten vor acht, fünf vor halb neun."""
    minutes = 15 if line.key(at) in ("quarter", "viertel") else _minutes(line, at)
    after = at + 1 + (line.has(at + 1, ("minutes", "minuten")) and minutes is not None)
    if minutes is None or not (line.has(after, _PAST) or line.has(after, _BEFORE)):
        return None, at
    half = line.has(after + 1, ("halb",))
    hour = _hour(line, after + 1 + half)
    if hour is None:
        return None, at
    shift = (minutes if line.has(after, _PAST) else -minutes) - 30 * half
    return _moved(hour, shift), line.skip(after + 2 + half, MARKERS)


def _hour(line: Line, at: int) -> int | None:
    if line.kind(at) == "number":
        hour = line.number(at)
    elif (word := NUMBERS.get(line.key(at))) is not None:
        hour = word
    else:
        return None
    return hour if 1 <= hour <= 24 and not line.has(at + 1, UNITS) else None


def _minutes(line: Line, at: int) -> int | None:
    found = line.number(at) if line.kind(at) == "number" else NUMBERS.get(line.key(at))
    return found if found is not None and 1 <= found < 60 else None


def _moved(hour: int, minutes: int) -> Clock:
    # “halb eins” and “quarter to one” are about noon: whoever means the night says so
    total = ((13 if hour == 1 and minutes < 0 else hour) * 60 + minutes) % (24 * 60)
    return Clock(time(total // 60, total % 60), bare=1 <= hour <= 12)
