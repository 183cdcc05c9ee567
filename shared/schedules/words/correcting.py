"""What "no, at 8", "nein, samstags" or "an hour later" changes of a schedule: what they name; the rest stays as it was."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from shared.schedules.domain import Cron, Interval, Once, Understood, Wall
from shared.schedules.words.clocks import read_clocks
from shared.schedules.words.composing import compose
from shared.schedules.words.domain import Clock, NotUnderstood, Part, Said
from shared.schedules.words.finding import find_schedule
from shared.schedules.words.line import Line, read_line
from shared.schedules.words.meaning import HOURS, SECONDS, Meaning, bound_day, wrong
from shared.schedules.words.reading import read_all, read_filler, read_piece, unclear
from shared.schedules.words.repeats import read_length
from shared.schedules.words.vocabulary import AND

_OPENING = re.compile(
    r"(?:(?:no|nope|nah|nein|nee|ne|doch|lieber|besser|rather|actually|eigentlich|sorry|i mean|i meant|ich meine|ich meinte|wait|but|aber|ok|okay|please|bitte|"
    r"make (?:it|that)|change (?:it|that)(?: to)?|move (?:it|that)(?: to)?|set (?:it|that)(?: to)?|let'?s (?:say|do)|better|stattdessen|mach(?:e)?(?: es| das)?|verschieb(?:e)?(?: es| das)?(?: auf)?|"
    r"ändere?(?: es| das)?(?: auf)?|änder(?: es| das)?(?: auf)?|es soll|it should be|dann|then|auf|only|nur|erst|just)\b[\s,.:;!–-]*){1,6}",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(r"(?:not|nicht) (?P<old>.{1,80}?)(?:,? (?:but|sondern)|,) (?P<new>.+)", re.IGNORECASE | re.DOTALL)
_INSTEAD = re.compile(
    r"[\s,]+(?:instead(?: of .+)?|statt(?:dessen| .+)?|anstatt .+|anstelle .+|please|bitte|draus|daraus)[\s.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_ALSO = AND | {"also", "auch", "zusaetzlich", "additionally"}
_SHIFTS = {"later": 1, "spaeter": 1, "earlier": -1, "frueher": -1}
_HALVES: dict[str, Part] = {
    "in the afternoon": "afternoon",
    "nachmittags": "afternoon",
    "in the evening": "evening",
    "abends": "evening",
    "at night": "night",
    "nachts": "night",
}
_BEGINS = re.compile(r", (?:from|ab) ")
_HALF = re.compile(r"\(([a-z ]+)\)$")
Rules = Once | Interval | Wall | Cron


def correct(line: Line, zone: str, at: datetime, before: Understood) -> tuple[Rules, list[str], Said]:
    """The new rule, what may surprise, and what was said. Raises NotUnderstood."""
    line = read_line(opened(line.text), line.lang)
    if (shift := _shift(line)) is not None:
        return _shifted(line, zone, at, before, shift), [], Said()
    said = _read(line)
    bounds = Said(until=said.until, lasting=said.lasting, start=said.start)
    if _only_time(said):
        _keep_half(before, said)
        return _at_times(line, zone, at, before, said), [], said
    if isinstance(before.rule, Wall) and said == bounds != Said():
        return _bounded(line, zone, at, before.rule, said), [], said
    _keep(before.rule, said)
    rule, notes = compose(line, said, zone, at)
    return rule, notes, said


def _keep_half(before: Understood, said: Said) -> None:
    """The evening stays the evening: it stands behind the words of what was understood."""
    half = _HALF.search(before.words)
    part = _HALVES.get(half[1]) if half else None
    if (
        part
        and said.part is None
        and all(each.bare and each.part is None and each.time.hour in HOURS[part] for each in said.clocks)
    ):
        said.part = part


def _keep(rule: Rules, said: Said) -> None:
    """What the correction leaves open stays: the times, the weekdays of "every two weeks", and that it repeats."""
    wall = rule.wall if isinstance(rule, Once) else None
    held = rule.times if isinstance(rule, Wall) else (wall.time(),) if wall else ()
    if not (said.clocks or said.part or said.offset or (said.every and said.every[1] in SECONDS)):
        said.clocks = [Clock(each) for each in held]
    if not isinstance(rule, Wall):
        return
    if rule.unit == "week" and said.every and said.every[1] == "week" and not said.weekdays:
        said.weekdays = rule.weekdays
    if not said.every and (said.weekdays or said.days) and not said.coming and said.ahead is None:
        said.recurring = True
        said.monthly |= bool(said.days)


def corrects(text: str) -> bool:
    """Whether it can be a correction of a schedule: it says times or days and nothing else, after "no," or without."""
    try:
        line = read_line(opened(text))
        return bool(text.strip()) and (_shift(line) is not None or _read(line) != Said())
    except NotUnderstood:
        found = _OPENING.match(text)
        return found is not None and bool(find_schedule(text[found.end() :])[0])


def opened(text: str) -> str:
    """Without "no," and the like, and without what it was instead of."""
    found = _OPENING.match(text)
    text = text[found.end() :] if found and found.end() < len(text) else text
    if swapped := _NOT_BUT.fullmatch(text):
        text = swapped["new"]
    return _INSTEAD.sub("", text)


def _read(line: Line) -> Said:
    """As any schedule, but that a bare number is a time."""
    try:
        return read_all(line)
    except NotUnderstood:
        said, at = Said(), 0
        while at < len(line.tokens):
            end = read_piece(line, at, said) or read_filler(line, at, said) or (at + 1 if line.has(at, _ALSO) else 0)
            if end <= at:
                found, end = read_clocks(line, at, led=True)
                said.clocks += found
            if end <= at:
                raise unclear(line, at) from None
            at = end
        return said


def _only_time(said: Said) -> bool:
    return bool(said.clocks or said.part) and not (
        said.has_day or said.until or said.start or said.lasting or said.without or said.window
    )


def _at_times(line: Line, zone: str, at: datetime, before: Understood, said: Said) -> Rules:
    meaning = Meaning(line, said, zone, at)
    times, rule = meaning.times(), before.rule
    if isinstance(rule, Wall):
        held = rule.times if line.has(0, _ALSO) else ()
        changed = rule.model_copy(update={"times": tuple(sorted({*held, *times}))})
        # where every day counts, the first was only the next one that was still to come
        begins = rule.every > 1 or _BEGINS.search(before.words)
        return changed if begins else changed.model_copy(update={"start": min(rule.start, meaning.now.date())})
    if isinstance(rule, Cron):
        return _cron_at(line, rule, times)
    if isinstance(rule, Interval) or len(times) != 1:
        raise wrong(line, "That has no such time of day.", "Das hat keine solche Uhrzeit.", "Say the whole schedule, such as “every day at 8”.", "Sage den ganzen Zeitplan, etwa „jeden Tag um 8“.")  # fmt: skip
    if rule.wall is None:
        rule, _ = compose(line, said, zone, at)
        return rule
    found = datetime.combine(rule.wall.date(), times[0])
    if found <= meaning.now:
        raise meaning.past(found)
    return Once(wall=found)


def _cron_at(line: Line, rule: Cron, times: tuple[time, ...]) -> Cron:
    minute, hour, *days = rule.expression.split()
    if not (minute.isdigit() and hour.isdigit() and len(times) == 1):
        raise wrong(line, "That cron expression has several times.", "Dieser cron-Ausdruck hat mehrere Zeiten.", "Give a new expression.", "Gib einen neuen Ausdruck an.")  # fmt: skip
    return Cron(expression=" ".join([str(times[0].minute), str(times[0].hour), *days]))


def _bounded(line: Line, zone: str, at: datetime, rule: Wall, said: Said) -> Wall:
    meaning = Meaning(line, said, zone, at)
    if said.start:
        rule = rule.model_copy(update={"start": bound_day(meaning, said.start, time(0))})
    last = rule.until
    if said.lasting:
        number, unit = said.lasting
        last = meaning.moved(max(rule.start, meaning.now.date()), int(number), unit) - timedelta(days=1)
    elif said.until:
        last = bound_day(meaning, said.until, time(0), after=rule.start)
    return rule.model_copy(update={"until": last})


def _shift(line: Line) -> int | None:
    """Seconds of "an hour later", "10 Minuten früher"."""
    found, end = read_length(line, 0)
    if (
        not found
        or end != len(line.tokens) - 1
        or not line.has(end, _SHIFTS)
        or any(unit not in SECONDS for _, unit in found)
    ):
        return None
    return round(sum(number * SECONDS[unit] for number, unit in found)) * _SHIFTS[line.key(end)]


def _shifted(line: Line, zone: str, at: datetime, before: Understood, seconds: int) -> Rules:
    rule, by = before.rule, timedelta(seconds=seconds)
    if isinstance(rule, Once):
        moved = Once(at=rule.at + by) if rule.at else Once(wall=(rule.wall or datetime.min) + by)
        now = at.astimezone(UTC) if moved.at else at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if (moved.at or moved.wall or now) <= now:
            raise Meaning(line, Said(), zone, at).past(moved.wall)
        return moved
    if isinstance(rule, Wall):
        day = date(2000, 1, 2)
        times = [datetime.combine(day, each) + by for each in rule.times]
        if all(each.date() == day for each in times):
            return rule.model_copy(update={"times": tuple(sorted(each.time() for each in times))})
    raise wrong(line, "That cannot be moved by so much.", "Das lässt sich nicht so weit verschieben.", "Say the new time, such as “at 8”.", "Sage die neue Zeit, etwa „um 8“.")  # fmt: skip
