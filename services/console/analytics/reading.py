"""From what a form, a program or the operator sends to a question, and from an answer to what programs read."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from services.console.analytics.domain import MOST_DAYS, MOST_ROWS, Answer, Cost, Question, check_question
from shared.clock import now
from shared.errors import Refused

PERIODS = (1, 7, 30, 90, 365)


def read_question(given: Mapping[str, Any]) -> Question:
    """`since` and `until`, or `days` before now; the rest as in Question. Refused says what can be asked."""
    until = _time(given.get("until")) or now()
    since = _time(given.get("since")) or _before(until, _number(given.get("days") or 30, "days", MOST_DAYS))
    narrowed: dict[str, Any] = {name: str(given.get(name) or "") for name in ("kind", "item", "lang")}
    narrowed["top"] = _number(given.get("top") or MOST_ROWS, "top", MOST_ROWS)
    if narrowed["item"]:
        narrowed["item"] = _id(narrowed["item"])
    wanted = (str(given.get(name) or default) for name, default in (("source", "signals"), ("bucket", "day"), ("by", "none")))  # fmt: skip
    source, bucket, by = wanted
    return check_question(source, bucket, by, since, until, **narrowed)


def _before(until: datetime, days: int) -> datetime:
    try:
        return until - timedelta(days=days)
    except OverflowError:
        return until  # a period without length, which is refused in words


def answer_of(answer: Answer) -> dict[str, Any]:
    """Plain JSON; money as exact decimals in text, unknown figures null."""
    return {
        "question": answer.question.to_json(),
        "engine": answer.engine,
        "reason": answer.reason,
        "rows": [
            {
                "at": point.at.isoformat() if point.at else None,
                "key": point.key,
                **{
                    name: figure if figure is None or isinstance(figure, int) else format(figure, "f")
                    for name, figure in point.figures.items()
                },
            }
            for point in answer.points
        ],
        "matched": answer.matched,
        "more": answer.more,
        "cost": _cost(answer.cost),
        "other": _cost(answer.other),
        "equal": answer.equal,
    }


def _cost(cost: Cost) -> dict[str, Any]:
    taken = None if cost.milliseconds is None else round(cost.milliseconds, 1)
    return {
        "engine": cost.engine,
        "rows_read": cost.rows,
        "milliseconds": taken,
        "measured": cost.measured,
        "why": cost.why,
    }


def _time(value: Any) -> datetime | None:
    if not value:
        return None
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        raise Refused(f"{str(value)[:40]!r} is no time; write it as 2026-11-30T00:00+00:00.", code="time") from None


def _number(value: Any, name: str, most: int) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) < 8 and 1 <= int(text) <= most):
        raise Refused(f"{name} is a whole number from 1 to {most}.", code=name)
    return int(text)


def _id(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise Refused(f"{value[:40]!r} is no item's id.", code="item") from None
