"""A text read piece by piece, until nothing is left; what is left is not understood."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache

from shared.schedules.words import bounds, dates, days, repeats, vocabulary
from shared.schedules.words.clocks import LEADS, read_clocks
from shared.schedules.words.domain import LONGEST, NotUnderstood, Said
from shared.schedules.words.line import Line
from shared.schedules.words.vocabulary import AND, CLEANUP, PARTS, POLITE, THE

Reader = Callable[[Line, int, Said], int]
MOST_TOKENS = 80
_EXAMPLES_EN = "Such as “every Sunday at 7”, “in 10 minutes”, “on the last day of the month” or “tomorrow at 8:30”."
_EXAMPLES_DE = "Etwa „jeden Sonntag um 7“, „in 10 Minuten“, „am letzten Tag des Monats“ oder „morgen um 8:30“."


def read_times(line: Line, at: int, said: Said) -> int:
    clocks, end = read_clocks(line, at)
    if clocks:
        said.clocks = _joined(line, said.clocks, clocks, at)
    return end


def _joined(line: Line, held: list, found: list, at: int) -> list:  # type: ignore[type-arg]
    """Two lists of times are one only where an "and" joins them."""
    if held and not (line.has(at - 1, AND) or line.key(at - 1) == ","):
        raise NotUnderstood(
            line.say("Two times are said.", "Es sind zwei Uhrzeiten genannt."),
            line.say("Join them with “and”, such as “at 8 and 20:00”, or say one.", "Verbinde sie mit „und“, etwa „um 8 und 20 Uhr“, oder sage eine."),
        )  # fmt: skip
    return [*held, *found]


def read_part(line: Line, at: int, said: Said) -> int:
    """in the evening, abends, am Morgen: of every time that says nothing else, or without any time."""
    place = line.skip(at, THE | {"at"}) if not line.has(at, ("am",)) or line.has(at + 1, (*PARTS, "morgen")) else at
    key = line.key(place)
    if key in ("am", "pm") or (key not in PARTS and not (key == "morgen" and place > at and line.has(at, ("am",)))):
        return at
    part = "morning" if key == "morgen" else PARTS[key]
    if said.part not in (None, part) and part == "morning" and line.lang == "de":
        return at
    said.fill(line.lang, part=part)
    return place + 1


def read_filler(line: Line, at: int, said: Said) -> int:
    """Words that say nothing by themselves; never the last one."""
    if line.has(at, CLEANUP):
        said.cleanup = True
        return line.skip(at + 1, ("up", "job", "auf", "run"))
    if at + 1 < len(line.tokens) and (
        line.has(at, THE) or line.has(at, POLITE) or line.has(at, AND) or line.key(at) == ","
    ):
        return at + 1
    if line.has(at, POLITE) or (line.kind(at) == "mark" and line.key(at) in ".!;?" and at == len(line.tokens) - 1):
        return at + 1
    return at


READERS: tuple[Reader, ...] = (
    bounds.read_window, bounds.read_until, bounds.read_start, bounds.read_except, repeats.read_offset, repeats.read_adverb,
    days.read_month_end, repeats.read_every, dates.read_date, days.read_nth, repeats.read_ahead, days.read_of_month, days.read_month,
    read_part, read_times, days.read_weekdays, days.read_month_days,
)  # fmt: skip
"""In this order: what begins with a word that says what it is comes first, bare numbers last."""


def read_all(line: Line) -> Said:
    """Everything that the text says. Raises NotUnderstood with the first word that says nothing."""
    if len(line.text) > LONGEST or len(line.tokens) > MOST_TOKENS:
        raise NotUnderstood(
            line.say("That is too long for a schedule.", "Das ist zu lang für einen Zeitplan."), line.say(_EXAMPLES_EN, _EXAMPLES_DE)
        )  # fmt: skip
    said = Said()
    at = 0
    while at < len(line.tokens):
        end = read_piece(line, at, said) or read_filler(line, at, said)
        if end <= at:
            raise unclear(line, at)
        at = end
    return said


def read_piece(line: Line, at: int, said: Said) -> int:
    """Where the piece that begins here ends; 0 when none does."""
    for read in READERS:
        end = read(line, at, said)
        if end > at:
            return end
    return 0


def unclear(line: Line, at: int) -> NotUnderstood:
    if not line.tokens or at >= len(line.tokens):
        return NotUnderstood(
            line.say("No time is said.", "Es ist keine Zeit genannt."), line.say(_EXAMPLES_EN, _EXAMPLES_DE)
        )
    at += line.has(at, LEADS) and at + 1 < len(line.tokens)
    raw = line.tokens[at].raw[:40]
    shown = raw if raw.isprintable() else "\ufffd"
    return NotUnderstood(
        line.say(f"I do not understand “{shown}” there.", f"„{shown}“ verstehe ich dort nicht."),
        _meant(line, at, raw) + line.say(_EXAMPLES_EN, _EXAMPLES_DE),
    )


def _meant(line: Line, at: int, raw: str) -> str:
    """What was probably meant, with a blank behind it; empty when nothing is near."""
    if line.kind(at) == "number":
        return line.say(f"For a time of day say “at {raw}”. ", f"Für eine Uhrzeit sage „um {raw} Uhr“. ")
    close = (
        get_close_matches(line.key(at)[:40], known_words(), 1, 0.8) if line.kind(at) == "word" and len(raw) > 3 else []
    )
    if not close or close[0] == line.key(at):
        return ""
    return line.say(f"Did you mean “{close[0]}”? ", f"Meintest du „{close[0]}“? ")


@lru_cache(maxsize=1)
def known_words() -> tuple[str, ...]:
    tables = (
        vocabulary.WEEKDAYS,
        vocabulary.MONTHS,
        vocabulary.UNITS,
        vocabulary.ADVERBS,
        vocabulary.PARTS,
        vocabulary.EVERY,
        vocabulary.HABITS,
    )
    return tuple(
        sorted(
            {word for table in tables for word in table if len(word) > 3}
            | {"tomorrow", "today", "heute", "morgen", "weekday", "werktag"}
        )
    )
