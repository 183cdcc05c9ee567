"""Words to a checked schedule, and what "no, at 8" changes of one (rule 7a). What is not understood is refused, never guessed."""

import re
from datetime import datetime

from shared.schedules.checks import check_rule
from shared.schedules.cron import WRITTEN_OUT, read_cron
from shared.schedules.domain import Cron, Interval, Once, Understood, Wall
from shared.schedules.words.composing import compose
from shared.schedules.words.correcting import correct
from shared.schedules.words.describing import describe
from shared.schedules.words.domain import LONGEST, Lang, NotUnderstood, Said
from shared.schedules.words.finding import find_schedule, is_request
from shared.schedules.words.language import spoken
from shared.schedules.words.line import Line, read_line
from shared.schedules.words.reading import read_all
from shared.schedules.words.vocabulary import CLEANUP, fold
from shared.schedules.zones import check_zone

_FIELD = r"(?:[0-9*?,/#LW-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)+"
_CRON = re.compile(
    rf"(?:cron(?:tab)?\s*:?\s*)?[\"'`„“]?(?P<expression>@[a-z]+|{_FIELD}(?:\s+{_FIELD}){{4,5}})[\"'`“”]?", re.IGNORECASE
)
_CRON_WORD = re.compile(r"cron(?:tab)?\s*:?\s+(?P<expression>.+)", re.IGNORECASE | re.DOTALL)
_QUOTES = " \t\r\n\"'“”„`«»"
_INSTANT = re.compile(
    r"(?:at |on |am |um )?(?P<at>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))",
    re.IGNORECASE,
)
_HALVES = (("in the afternoon", "nachmittags"), ("in the evening", "abends"), ("at night", "nachts"))

_SAID_HALF = re.compile(rf"\s*\((?:{'|'.join(each for pair in _HALVES for each in pair)})\)$")
"""It stands behind the words of what was understood, whose hours are those of a whole day."""


def understand(text: str, zone: str, at: datetime, before: Understood | None = None) -> Understood:
    """The schedule that the words name, seen at that instant in that zone. `before`: what they correct.

    Raises NotUnderstood, Impossible, BadCron, UnknownZone, each with a `hint`.
    """
    zone = check_zone(zone)
    words = _SAID_HALF.sub("", text.strip(_QUOTES))
    if len(words) > LONGEST:
        words = _shortened(words)
    if (cron := _cron(words)) is not None:
        language: Lang = "de" if before and spoken(fold(before.words).split()) == "de" else "en"
        rule = read_cron(cron)
        return Understood(rule, zone, describe(rule, zone, language), check_rule(rule, zone, at, language=language))
    line = read_line(words, spoken(fold(before.words).split()) if before else "en")
    return _read(line, zone, at, before)


def _read(line: Line, zone: str, at: datetime, before: Understood | None) -> Understood:
    said = Said()
    if before is not None:
        rule, notes, said = correct(line, zone, at, before)
    elif (instant := _INSTANT.fullmatch(line.text)) is not None:
        rule, notes = compose(
            line, Said(instant=datetime.fromisoformat(instant["at"].upper().replace(" ", "T"))), zone, at
        )
    else:
        line, said = _whole(line)
        rule, notes = compose(line, said, zone, at)
    checked = check_rule(rule, zone, at, language=line.lang)
    return Understood(
        rule,
        zone,
        describe(rule, zone, line.lang, begins=_begins(rule, said)) + _half_of_day(line, said, rule),
        tuple(dict.fromkeys((*notes, *checked))),
    )


def _whole(line: Line) -> tuple[Line, Said]:
    """A sentence that asks for something holds its schedule somewhere: "remind me every Sunday at 7 to water the plants"."""
    try:
        return line, read_all(line)
    except NotUnderstood:
        schedule, rest = find_schedule(line.text) if is_request(line.text) else ("", "")
        if not schedule:
            raise
        found = read_line(schedule, line.lang)
        said = read_all(found)
        said.cleanup |= any(fold(word) in CLEANUP for word in re.findall(r"\w+", f"{line.text[:40]} {rest[:LONGEST]}"))
        return found, said


def _shortened(words: str) -> str:
    """A long text can be a long request; then its schedule is looked for at both its ends."""
    schedule, _ = find_schedule(words) if is_request(words) else ("", "")
    if not schedule or len(schedule) > LONGEST:
        german = spoken(fold(words[:LONGEST]).split()) == "de"
        raise NotUnderstood(*(("Das ist zu lang für einen Zeitplan.", f"Höchstens {LONGEST} Zeichen, etwa „jeden Sonntag um 7“.") if german else ("That is too long for a schedule.", f"At most {LONGEST} characters, such as “every Sunday at 7”.")))  # fmt: skip
    return schedule


def _cron(words: str) -> str | None:
    """A cron expression given literally, or None."""
    if words.lower() in WRITTEN_OUT or words.startswith("@"):
        return words
    found = _CRON.fullmatch(words) or _CRON_WORD.fullmatch(words)
    return " ".join(found["expression"].strip(_QUOTES).split()) if found else None


def _begins(rule: Once | Interval | Wall | Cron, said: Said) -> bool:
    return isinstance(rule, Wall) and said.start is not None


def _half_of_day(line: Line, said: Said, rule: Once | Interval | Wall | Cron) -> str:
    """Which part of the day was meant, where it was said of a bare hour: "no, at 8" keeps it."""
    parts = {each.part or said.part for each in said.clocks if each.bare}
    part = parts.pop() if len(parts) == 1 else None
    times = (
        rule.times if isinstance(rule, Wall) else (rule.wall.time(),) if isinstance(rule, Once) and rule.wall else ()
    )
    if part in (None, "am", "morning", "noon") or len(times) != 1 or times[0].hour == 12:
        return ""
    place = 2 if part == "night" else 1 if times[0].hour >= 17 else 0
    return f" ({line.say(*_HALVES[place])})"
