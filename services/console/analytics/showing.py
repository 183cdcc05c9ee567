"""An answer as a page shows it: columns, lines, a chart's points in the reader's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.console.analytics.domain import MEASURES, Answer, Bucket, Cost, Figure, Question
from services.console.words import Words

MOST_LINES = 400
MOST_BARS = 120
UNITS = {
    "n": "Number",
    "visitors": "Visitors",
    "value": "Sum of votes",
    "bad": "Failed or refused",
    "milliseconds": "Milliseconds",
    "bytes_out": "Bytes out",
    "bytes_in": "Bytes in",
    "cost": "US dollars",
    "unknown": "Cost not known",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
}
COUNTED = {"signals": "signals", "calls": "calls", "spend": "calls of a model"}
_STEPS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}  # fmt: skip


@dataclass(frozen=True)
class Line:
    label: str
    key: str
    figures: Sequence[str]


@dataclass(frozen=True)
class Shown:
    """`units`: heads of the figures' columns. `cut`: there are more lines than are shown."""

    units: Sequence[str]
    lines: Sequence[Line]
    cut: bool
    points: Sequence[tuple[str, Figure]]
    cost: str
    other: str


def shown(answer: Answer, words: Words, names: dict[str, str]) -> Shown:
    """`names`: what keys are called, where there is a better word."""
    names_of = MEASURES[answer.question.source]
    newest = list(answer.points) if answer.question.bucket == "all" else list(reversed(answer.points))
    lines = [
        Line(
            _label(point.at, answer.question.bucket, words),
            names.get(point.key, point.key),
            [_figure(point.figures[name], words) for name in names_of],
        )
        for point in newest[:MOST_LINES]
    ]
    cut = len(answer.points) > MOST_LINES or answer.more
    units = [words.say(UNITS[name]) for name in names_of]
    return Shown(units, lines, cut, _points(answer, words, names), cost(answer.cost, words), cost(answer.other, words))


def cost(found: Cost, words: Words) -> str:
    """`Postgres read 12,000 rows in 48 ms.`, or what it would have."""
    name = "Postgres" if found.engine == "postgres" else "ClickHouse"
    if found.rows is None or found.milliseconds is None:
        return words.say("{engine}: unavailable.", engine=name)
    rows, taken = words.figure(found.rows), in_time(found.milliseconds, words)
    told = (
        words.say("{engine} read {rows} rows in {taken}.", engine=name, rows=rows, taken=taken)
        if found.measured
        else words.say(
            "{engine} would have read about {rows} rows in about {taken}.", engine=name, rows=rows, taken=taken
        )
    )
    return f"{told} {words.say(found.why)}".strip()


def in_time(milliseconds: float, words: Words) -> str:
    if milliseconds < 10:
        return f"{words.figure(milliseconds, 1)} ms"
    return f"{words.figure(round(milliseconds))} ms" if milliseconds < 10_000 else f"{words.figure(milliseconds / 1000, 1)} s"  # fmt: skip


def _figure(figure: Figure, words: Words) -> str:
    return words.say("unavailable") if figure is None else words.figure(figure)


def _points(answer: Answer, words: Words, names: dict[str, str]) -> Sequence[tuple[str, Figure]]:
    """Over time every bucket, those without anything too (the newest of them, when they are many); else the largest keys."""
    question = answer.question
    if question.bucket == "all":
        return [(names.get(each.key, each.key) or "–", each.figures["n"]) for each in answer.points[:MOST_BARS]]
    sums: dict[datetime, int] = {}
    for point in answer.points:
        assert point.at is not None
        sums[point.at] = sums.get(point.at, 0) + int(point.figures["n"] or 0)
    return [(_label(at, question.bucket, words), sums.get(at, 0)) for at in _buckets(question, sums)][-MOST_BARS:]


def _buckets(question: Question, found: dict[datetime, int]) -> list[datetime]:
    step = _STEPS.get(question.bucket)
    if step is None or not found:
        return sorted(found)
    first, last = min(found), max(*found, question.until - step)
    count = min(int((last - first) / step) + 1, 100_000)
    return [first + step * number for number in range(count)]


def _label(at: datetime | None, bucket: Bucket, words: Words) -> str:
    if at is None:
        return ""
    if bucket in ("minute", "hour"):
        return f"{words.day(at)} {at:%H:%M}"
    return words.date(at)
