"""From when till when something repeats, on which days not, and between which times: until 31 March, ab Montag, außer sonntags."""

from shared.schedules.words.clocks import LEADS, one_clock, read_clocks
from shared.schedules.words.dates import check_day, read_date
from shared.schedules.words.days import is_range, read_month, read_month_end, read_nth, read_weekdays, weekday_at
from shared.schedules.words.domain import Day, NotUnderstood, Said, Unit
from shared.schedules.words.line import Line
from shared.schedules.words.repeats import read_ahead, read_coming, read_length
from shared.schedules.words.vocabulary import AND, COMING, EXCEPT, MONTHS, STARTING, THE, THIS, UNITS, UNTIL

_LONG = ("day", "week", "month", "year")


def read_until(line: Line, at: int, said: Said) -> int:
    """until 31 March, bis Freitag, bis Ende März, bis Jahresende; for two weeks, zwei Wochen lang."""
    if line.has(at, ("for", "fuer")):
        found, end = read_length(line, at + 1)
        return _lasting(line, end, said, found) if found else at
    if not line.has(at, UNTIL) and not (line.key(at) == "to" and said.start):
        found, end = read_length(line, at)
        return _lasting(line, end + 1, said, found) if found and line.key(end) == "lang" else at
    bound, end = read_bound(line, at + 1)
    if bound is None:
        return at
    said.fill(line.lang, until=bound)
    return end


def _lasting(line: Line, end: int, said: Said, found: list[tuple[float, Unit]]) -> int:
    if len(found) > 1 or found[0][1] not in _LONG or not found[0][0].is_integer():
        raise NotUnderstood(line.say("Such a length cannot be kept.", "Diese Dauer lässt sich nicht einhalten."), line.say("Say days, weeks, months, or “until 31 March”.", "Sage Tage, Wochen, Monate oder „bis 31. März“."))  # fmt: skip
    said.fill(line.lang, lasting=found[0])
    return end


def read_start(line: Line, at: int, said: Said) -> int:
    """starting tomorrow, from 1 January on, ab Montag; for intervals also a time: starting at 8."""
    if line.has(at, ("first", "zuerst")) and line.has(at + 1, LEADS):
        return _read_first(line, at, said)
    spans = line.has(at, ("von", "vom"))
    if not (line.has(at, STARTING) or spans) or is_range(line, at + 1):
        return at
    place = line.skip(at + 1, ("with", "mit"))
    bound, end = read_bound(line, place)
    if spans and not (bound and bound.date and line.has(end, UNTIL)):
        return at
    if bound is None:
        clocks, end = read_clocks(line, place, led=True)
        if len(clocks) != 1:
            return at
        bound = Said(clocks=clocks)
    said.fill(line.lang, start=bound)
    return (
        line.skip(end, ("on", "onwards", "onward"))
        if line.has(at, ("from",)) or line.has(end, ("onwards", "onward"))
        else end
    )


def _read_first(line: Line, at: int, said: Said) -> int:
    """First at 17:40 on 29 November 2026: as an interval is told."""
    clocks, end = read_clocks(line, at + 1)
    if len(clocks) != 1:
        return at
    bound = Said(clocks=clocks)
    dated = line.skip(end, ("on", "am"))
    end = read_date(line, dated, bound) if dated > end else end
    said.fill(line.lang, start=bound)
    return end


def read_bound(line: Line, at: int) -> tuple[Said | None, int]:
    """One day that something lasts until, or begins with."""
    place = line.skip(at, THE | {"einschliesslich", "including"})
    bound = Said()
    if (found := _end_of(line, place)) is not None:
        return found
    if (line.has(place, COMING) or line.has(place, THIS)) and line.has(place + 1, UNITS):
        end = read_coming(line, place, bound)
        return (bound, end) if end > place else (None, at)
    for read in (read_date, read_ahead, read_month_end, read_nth, read_month):
        end = read(line, place, bound)
        if end > place and (bound.date or bound.ahead is not None or bound.days):
            return bound, end
        place = end
    if (day := weekday_at(line, place)) is not None:
        bound.weekdays = (day,)
        dated = line.skip(place + 1, {",", *THE})
        end = read_date(line, dated, bound)
        return bound, end if end > dated else place + 1
    if line.has(place, MONTHS):
        month = MONTHS[line.key(place)]
        check_day(line, Day(month, 1))
        return Said(month=month), place + 1
    return None, at


def _end_of(line: Line, at: int) -> tuple[Said, int] | None:
    """Jahresende, end of March, Ende des Monats."""
    if line.has(at, ("jahresende",)):
        return Said(date=Day(12, 31)), at + 1
    if not line.has(at, ("end", "ende")):
        return None
    after = line.skip(at + 1, ("of", "the", "des", "im", "dieses"))
    if line.has(after, MONTHS):
        return Said(date=Day(MONTHS[line.key(after)], -1)), after + 1
    if line.has(after, ("year", "jahres")):
        return Said(date=Day(12, 31)), after + 1
    return (Said(days=(-1,)), after + 1) if line.has(after, ("month", "monats")) else None


def read_except(line: Line, at: int, said: Said) -> int:
    """except Sundays, außer am Wochenende, but not on Monday."""
    place = at + 1
    if line.key(at) == "but" and line.key(at + 1) == "not":
        place = at + 2
    elif not line.has(at, EXCEPT):
        return at
    left = Said()
    place = line.skip(place, THE | {"for"})
    end = read_weekdays(line, place, left)
    if end == place:
        return at
    said.fill(line.lang, without=left.weekdays)
    return end


def read_window(line: Line, at: int, said: Said) -> int:
    """between 9 and 17, from 8:00 to 18:00, zwischen 9 und 17 Uhr, von 8 bis 18 Uhr."""
    between = line.has(at, ("between", "zwischen"))
    if not between and not line.has(at, ("from", "von")):
        return at
    first, end = one_clock(line, at + 1)
    joined = line.has(end, AND) if between else line.has(end, ("to", "till", "until", "bis", "-", "–"))
    if first is None or not joined:
        return at
    last, end = one_clock(line, end + 1)
    if last is None:
        return at
    said.fill(line.lang, window=(first, last))
    return end
