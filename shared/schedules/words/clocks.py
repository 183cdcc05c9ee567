"""Times of day as people say them: 7, 7:30, 7.30 Uhr, halb acht, quarter past 7, 7pm, noon, and lists of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import time

from shared.schedules.words.domain import Clock, NotUnderstood, Part
from shared.schedules.words.line import Line
from shared.schedules.words.spoken import MARKERS, read_spoken
from shared.schedules.words.vocabulary import AND, ARTICLES, NUMBERS, PARTS, UNITS

LEADS = frozenset(("at", "um", "@"))
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0), "mitternacht": time(0), "mittag": time(12)}
_EXACTLY = frozenset(("punkt", "exactly", "genau"))
Readers = Sequence[Callable[[Line, int, bool], tuple[Clock | None, int]]]
MOST_TIMES = 24


def read_clocks(line: Line, at: int, led: bool = False) -> tuple[list[Clock], int]:
    """The times from here on, and where they end; none when there is none. `led`: a bare number is a time."""
    lead = led or line.has(at, LEADS)
    place = line.skip(at + 1, _EXACTLY) if line.has(at, LEADS) else at
    found: list[Clock] = []
    while True:
        clock, end = _clock(line, place, lead or _leads_on(line, place))
        if clock is None:
            break
        clock, end = _with_part(line, clock, end)
        found.append(clock)
        place = end
        following = _next(line, place)
        if following is None:
            break
        lead, place = True, following
    if not found:
        return [], at
    if len(found) > MOST_TIMES:
        raise NotUnderstood(*_said(line, "That is more than 24 times.", "Das sind mehr als 24 Uhrzeiten."))
    return _levelled(line, found), place


def one_clock(line: Line, at: int) -> tuple[Clock | None, int]:
    """One end of "from 9 to 17": a bare number is a time, and "9 to 17" is not sixteen fifty-one."""
    place = at + 1 if line.has(at, LEADS) else at
    clock, end = _clock(line, place, True, (_named, _colon, _hour))
    return (None, at) if clock is None else _with_part(line, clock, end)


def _next(line: Line, at: int) -> int | None:
    """Where the next time of a list begins: after a comma or an "and"."""
    if not (line.key(at) == "," or line.has(at, AND)):
        return None
    place = at + 1
    while line.key(place) == "," or line.has(place, AND):
        place += 1
    if line.has(place, LEADS):
        place += 1
    clock, end = _clock(line, place, True)
    return place if clock is not None and not line.has(end, UNITS) else None


def _leads_on(line: Line, at: int) -> bool:
    """Whether a bare number here begins a list that ends with a marked time: "8 und 20 Uhr"."""
    place = at
    for _ in range(MOST_TIMES):
        if line.kind(place) != "number" and not line.has(place, NUMBERS):
            return False
        place += 1
        if line.has(place, MARKERS) or (line.has(place, ("am", "pm")) and _meridian(line, place)):
            return True
        if not (line.key(place) == "," or line.has(place, AND)):
            return False
        place += 1
    return False


def _clock(line: Line, at: int, lead: bool, readers: Readers | None = None) -> tuple[Clock | None, int]:
    for read in readers or (_named, _colon, read_spoken, _hour):
        clock, end = read(line, at, lead)
        if clock is not None:
            return clock, end
    return None, at


def _named(line: Line, at: int, lead: bool) -> tuple[Clock | None, int]:
    key = line.key(at)
    if key in ("noon", "midday", "midnight", "mitternacht") or (key == "mittag" and lead):
        return Clock(_NAMED[key]), at + 1
    return None, at


def _colon(line: Line, at: int, lead: bool) -> tuple[Clock | None, int]:
    """7:30, 7.30 Uhr, 07:30:00."""
    kind = line.kind(at)
    if kind == "clock":
        parts = [int(each) for each in line.tokens[at].raw.split(":")]
        clock = Clock(_time(line, *parts), bare=1 <= parts[0] <= 12 and line.tokens[at].raw[0] != "0")
        return clock, line.skip(at + 1, ("uhr",))
    marked = line.has(at + 1, MARKERS) or (line.has(at + 1, ("am", "pm")) and _meridian(line, at + 1))
    if kind == "dotted" and (lead or marked):
        hour, dot, minute = line.tokens[at].raw.partition(".")
        if dot and len(minute) == 2 and len(hour) <= 2:
            return Clock(_time(line, int(hour), int(minute)), bare=1 <= int(hour) <= 12), line.skip(at + 1, ("uhr",))
    return None, at


def _hour(line: Line, at: int, lead: bool) -> tuple[Clock | None, int]:
    """7 Uhr 30, 7 o'clock, 7pm, seven thirty, and 7 where a time is due."""
    hour = _hour_number(line, at)
    if hour is None:
        return None, at
    minute, end = _minute_after(line, at, lead)
    halved = line.has(end, ("am", "pm")) and _meridian(line, end)
    if end == at + 1 and not halved and (not lead or line.has(end, UNITS)):
        return None, at
    raw = line.tokens[at].raw
    if end == at + 1 and len(raw) == 4 and raw.isdigit() and hour < 2400:
        return Clock(_time(line, hour // 100, hour % 100)), end
    return Clock(_time(line, hour, minute), bare=1 <= hour <= 12), end


def _hour_number(line: Line, at: int) -> int | None:
    """A number, or a word for one; an article only before what says that it counts hours ("ein Uhr")."""
    ends_text = at == len(line.tokens) - 1 and line.key(at).endswith(".")
    if line.kind(at) == "number" or (line.kind(at) == "ordinal" and ends_text):
        return line.number(at)
    if line.has(at, ARTICLES) and not line.has(at + 1, MARKERS):
        return None
    return NUMBERS.get(line.key(at))


def _minute_after(line: Line, at: int, lead: bool) -> tuple[int, int]:
    """The minute that follows an hour, and where both end; 0 and the next place when none does."""
    marked = line.has(at + 1, MARKERS) or (lead and line.key(at + 1) == "h")
    place = at + 1 + marked
    spoken = NUMBERS.get(line.key(place), 0)
    if (marked or (lead and line.kind(at) == "word")) and 10 <= spoken < 60 and not line.has(place + 1, UNITS):
        return spoken, place + 1
    if (
        marked
        and line.kind(place) == "number"
        and line.number(place) < 60
        and not line.has(place + 1, (*MARKERS, *UNITS))
    ):
        return line.number(place), place + 1
    return 0, place


def _with_part(line: Line, clock: Clock, at: int) -> tuple[Clock, int]:
    """am, pm, in the morning, morgens, abends: of the time that they follow."""
    if line.has(at, ("am", "pm")) and _meridian(line, at):
        return replace(clock, part=PARTS[line.key(at)]), at + 1
    place = at
    if line.has(at, ("in", "at")) and line.has(line.skip(at + 1, ("the",)), PARTS):
        place = line.skip(at + 1, ("the",))
    elif line.has(at, ("am", "in")) and line.has(line.skip(at + 1, ("der",)), (*PARTS, "morgen")):
        place = line.skip(at + 1, ("der",))
    elif not line.has(
        at,
        [each for each in PARTS if each.endswith("s") and each not in ("mornings", "nights", "evenings", "afternoons")],
    ):
        return clock, at
    part: Part = "morning" if line.has(place, ("morgen",)) else PARTS[line.key(place)]
    return (clock, at) if part in ("am", "pm") else (replace(clock, part=part), place + 1)


def _meridian(line: Line, at: int) -> bool:
    """Whether `am` is half a day, not the German word for on: nothing follows that it could belong to."""
    if line.key(at) == "pm":
        return True
    glued = at > 0 and line.tokens[at - 1].end == line.tokens[at].start
    return glued or line.lang == "en"


def _levelled(line: Line, found: list[Clock]) -> list[Clock]:
    """ "8 and 10 am": the last one's half of the day counts for the bare ones before it, where they come earlier in it."""
    part = found[-1].part
    if part not in ("am", "pm") or len(found) == 1:
        return found
    levelled: list[Clock] = []
    for each in found[:-1]:
        open_hour = each.part is None and each.bare
        if open_hour and each.time.hour % 12 >= found[-1].time.hour % 12:
            raise NotUnderstood(*_said(line, "It is not clear which half of the day that is.", "Es ist nicht klar, welche Tageshälfte gemeint ist.", "Say am or pm with each time, such as 9am and 5pm.", "Sage es bei jeder Zeit, etwa 9 und 17 Uhr."))  # fmt: skip
        levelled.append(replace(each, part=part) if open_hour else each)
    return [*levelled, found[-1]]


def _time(line: Line, hour: int, minute: int = 0, second: int = 0) -> time:
    if hour == 24 and not minute and not second:
        raise NotUnderstood(*_said(line, "24:00 is 0:00 of the next day.", "24:00 ist 0:00 des nächsten Tages.", "Say that day and 0:00.", "Sage diesen Tag und 0:00 Uhr."))  # fmt: skip
    if hour > 23 or minute > 59 or second > 59:
        shown = f"{hour}:{minute:02}" if hour < 1000 else "…"
        raise NotUnderstood(*_said(line, f"{shown} is no time of day.", f"{shown} ist keine Uhrzeit."))
    return time(hour, minute, second)


def _said(line: Line, en: str, de: str, hint_en: str = "", hint_de: str = "") -> tuple[str, str]:
    return line.say(en, de), line.say(
        hint_en or "Times go from 0:00 to 23:59, such as 7:30 or 19:30.",
        hint_de or "Uhrzeiten gehen von 0:00 bis 23:59, etwa 7:30 oder 19:30.",
    )
