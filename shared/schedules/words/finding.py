"""Where in a sentence its schedule stands: "remind me every Sunday at 7 to water the plants"."""

import re
from dataclasses import dataclass

from shared.schedules.words.domain import NotUnderstood, Said
from shared.schedules.words.line import Line, read_line
from shared.schedules.words.reading import read_filler, read_piece
from shared.schedules.words.vocabulary import MONTHS, UNITS

LOOKED_AT = 600
"""Characters at each end of a text in which a schedule is looked for."""
_REQUEST = re.compile(
    r"\s*(?:(?:please|bitte|and|und|kannst du|can you|could you|könntest du|hey|ok|okay)[\s,]+)*"
    r"(?P<verb>remind me|(?:set|create|make|add)(?: me)? (?:a|an|the)?\s?(?:new )?(?:reminder|alarm|task)|wake me(?: up)?|erinner(?:e)? mich|weck(?:e)? mich|"
    r"(?:stell|stelle|erstelle|setz|setze|lege|mach|mache)(?: mir)? (?:eine |einen |die )?(?:neue )?(?:erinnerung|wecker|aufgabe|termin)(?: an| ein)?|"
    r"delete|clean ?up|clean|prune|purge|lösche|loesche|bereinige|räume|raeume|schedule|plane)\b(?P<about>(?:[\s,]+(?:for|für))?[\s,:]*)",
    re.IGNORECASE,
)
_REMINDING = re.compile(
    r"remind|set|create|make|add|wake|erinner|weck|stell|erstelle|setz|lege|mach|schedule|plane", re.IGNORECASE
)
_BEFORE = re.compile(
    r"^(?:[\s,.:;–-]|(?:an (?:den|die|das)|daran|dass|to|that|about|of|for|an|ans|zu|mit|with|saying|namens|auf)(?=[\s,:]|$))+",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:[\s,:;–-]|\b(?:at|um|on|am|and|und|daran|every|jeden)$)+$", re.IGNORECASE)


@dataclass(frozen=True)
class Stretch:
    """Tokens from `begin` to before `end` that say `said`; None where they say something that cannot be."""

    begin: int
    end: int
    said: Said | None


def is_request(text: str) -> bool:
    return _REQUEST.match(text[:LOOKED_AT]) is not None


def find_schedule(text: str) -> tuple[str, str]:
    """The words of the schedule, and the rest without them and without "remind me … to"; ("", rest) when there is none."""
    request = _REQUEST.match(text[:LOOKED_AT])
    begin = request.end() if request and _REMINDING.match(request["verb"]) else 0
    body = text[begin:]
    head, tail = (body, "") if len(body) <= 2 * LOOKED_AT else (body[:LOOKED_AT], body[-LOOKED_AT:])
    schedule, rest = _find(head)
    if not schedule and tail:
        schedule, last = _find(tail)
        return schedule, _trimmed(body[:-LOOKED_AT] + last)
    return schedule, _trimmed(rest + body[len(head) :])


def _find(text: str) -> tuple[str, str]:
    line = read_line(text, strict=True)
    chosen = _choose(line, stretches(line))
    spans = [(line.tokens[each.begin].start, line.tokens[each.end - 1].end) for each in chosen]
    begins = [line.tokens[line.skip(each.begin, {",", "bitte", "please"})].start for each in chosen]
    words = " ".join(text[begin:end] for begin, (_, end) in zip(begins, spans, strict=True))
    rest, place = "", 0
    for begin, end in spans:
        rest, place = f"{rest}{text[place:begin].rstrip()} ", end
    return words, f"{rest}{text[place:].lstrip()}".strip()


def stretches(line: Line) -> list[Stretch]:
    """Every longest run of tokens that says something of a schedule."""
    found: list[Stretch] = []
    at = 0
    while at < len(line.tokens):
        stretch = _stretch(line, at)
        if stretch is None:
            at += 1
        else:
            found.append(stretch)
            at = stretch.end
    return found


def _stretch(line: Line, begin: int) -> Stretch | None:
    said, end, place = Said(), begin, begin
    while place < len(line.tokens):
        try:
            after = read_piece(line, place, said)
        except NotUnderstood:
            return Stretch(begin, _wrong_end(line, place), None)
        if after:
            end = place = after
            continue
        after = read_filler(line, place, Said())
        if after <= place or (end == begin and place - begin > 2):
            break
        place = after
    if end > begin and said == Said(recurring=True):
        return _broken(line, begin)
    return Stretch(begin, end, said) if end > begin else None


def _wrong_end(line: Line, begin: int) -> int:
    """Where what cannot be ends: it belongs to the schedule, so that the reader says why, rather than to the text around it."""
    try:
        return read_piece(line, begin, Said()) or begin + 1
    except NotUnderstood:
        return _broken(line, begin).end


def _broken(line: Line, begin: int) -> Stretch:
    """Up to the number that cannot be, so that the reader says why."""
    end = begin + 1
    while end < len(line.tokens) and end < begin + 4 and line.kind(end - 1) in ("word", "mark"):
        end += 1
    return Stretch(begin, line.skip(end, MONTHS.keys() | UNITS.keys()), None)


def _choose(line: Line, found: list[Stretch]) -> list[Stretch]:
    """The one at the beginning or at the end; both where the first names a day and the last only a time, or the first comes again and the last bounds it. Otherwise the only one there is."""
    if not found:
        return []
    size = len(line.tokens)
    marks = next((at for at in reversed(range(size)) if line.kind(at) != "mark"), 0)
    first = (
        found[0]
        if all(line.kind(at) == "mark" or line.key(at) in ("to", "for") for at in range(found[0].begin))
        else None
    )
    last = found[-1] if found[-1].end > marks and found[-1] is not first else None
    if first and last and first.said and last.said and _is_day(first.said) and _is_time(last.said):
        return [first, last]
    if first and last and first.said and last.said and _comes_again(first.said) and _is_bound(last.said):
        return [first, last]
    if first:
        return [first]
    if last:
        return [last]
    return [max(found, key=lambda each: each.end - each.begin)]


def _is_day(said: Said) -> bool:
    return (
        said.has_day
        and not said.clocks
        and not said.offset
        and not (said.every and said.every[1] in ("second", "minute", "hour"))
    )


def _comes_again(said: Said) -> bool:
    return bool(said.every or said.recurring or said.habit) and not (said.until or said.start or said.lasting)


def _is_bound(said: Said) -> bool:
    """“until Friday”, “for two weeks”, “from Monday”: with nothing else."""
    return bool(said.until or said.start or said.lasting) and not (said.has_day or said.clocks)


def _is_time(said: Said) -> bool:
    return bool(said.clocks) and not said.has_day


def _trimmed(text: str) -> str:
    return " ".join(_AFTER.sub("", _BEFORE.sub("", text.strip())).split(" ")).strip()
