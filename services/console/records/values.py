"""Text to value and back, by what a column is declared as. Pure. Empty text is NULL: unknown is never zero (rule 30)."""

import json
import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from schemas.text import BadJson, parse_json, text_fault
from schemas.work import Column
from shared.errors import Refused

Value = str | int | Decimal | bool | date | datetime | dict[str, Any] | list[Any] | float | None
LONGEST = 256 * 1024
"""Characters of one value."""
LEAST, MOST = -(2**63), 2**63 - 1
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_POINT = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})")
_COMMA = re.compile(r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]{1,40})(,[0-9]{1,40})?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ]00:00(:00(\.0+)?)?)?")
_GERMAN = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_YES = frozenset({"true", "t", "yes", "y", "1", "on", "ja", "j", "wahr"})
_NO = frozenset({"false", "f", "no", "n", "0", "off", "nein", "falsch"})


def read_value(column: Column, text: str, *, comma: bool = False) -> Value:
    """What the text says in this column; `comma`: decimals are written with a comma. Refused, naming column and what fits."""
    if text == "" or (column.type != "text" and not text.strip()):
        if column.required:
            raise _fault(column, "must not be empty")
        return None
    if len(text) > LONGEST:
        raise _fault(column, f"has {len(text):,} characters; at most {LONGEST:,} fit")
    fault = text_fault(text)
    if fault:
        raise _fault(column, fault)
    value: Value = _READ[column.type](column, text if column.type == "text" else text.strip(), comma)
    if column.choices and text not in column.choices:
        raise _fault(column, f"takes one of {', '.join(column.choices[:12])}; this is {_quoted(text)}")
    return value


def show_value(value: object) -> str:
    """The text that reads back as this value; empty for NULL."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case Decimal():
            return format(value, "f")
        case datetime():
            at = value.astimezone(UTC)
            return at.isoformat(timespec="microseconds" if at.microsecond else "seconds").replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
    return str(value)


def plain_value(value: object) -> Any:
    """For JSON: numbers without loss as text where JSON's own would lose, times and dates as text."""
    return value if value is None or isinstance(value, bool | int | dict | list) else show_value(value)


def _quoted(text: str) -> str:
    return f"“{text[:60]}{'…' if len(text) > 60 else ''}”"


def _fault(column: Column, words: str) -> Refused:
    return Refused(f"{column.name} {words}.", code="value")


def _text(_: Column, text: str, __: bool) -> str:
    return text


def _integer(column: Column, text: str, _: bool) -> int:
    if not _WHOLE.fullmatch(text) or not LEAST <= int(text) <= MOST:
        raise _fault(column, f"is a whole number; this is {_quoted(text)}")
    return int(text)


def _decimal(column: Column, text: str, comma: bool) -> Decimal:
    if comma and _COMMA.fullmatch(text):
        return Decimal(text.replace(".", "").replace(",", "."))
    if not _POINT.fullmatch(text):
        hint = "" if comma or "," not in text else " (with a point, not a comma)"
        raise _fault(column, f"is a number{hint}; this is {_quoted(text)}")
    return Decimal(text)


def _boolean(column: Column, text: str, _: bool) -> bool:
    word = text.casefold()
    if word not in _YES | _NO:
        raise _fault(column, f"is true or false; this is {_quoted(text)}")
    return word in _YES


def _date(column: Column, text: str, _: bool) -> date:
    try:
        if found := _DATE.fullmatch(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if found := _GERMAN.fullmatch(text):
            return date(int(found[3]), int(found[2]), int(found[1]))
    except ValueError:
        pass
    raise _fault(column, f"is a date like 2026-08-31 or 31.08.2026; this is {_quoted(text)}")


def _instant(column: Column, text: str, _: bool) -> datetime:
    """Without an offset it is UTC."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _fault(column, f"is a time like 2026-08-31T14:05:00Z; this is {_quoted(text)}") from None


def _json(column: Column, text: str, _: bool) -> Any:
    try:
        found = parse_json(text.encode())
    except BadJson as error:
        raise _fault(column, f"is JSON, and this is not: {error}") from None
    fault = _json_fault(found)
    if fault:
        raise _fault(column, f"cannot be kept: {fault}")
    return found


def _json_fault(value: Any) -> str | None:
    """What PostgreSQL's jsonb would not take."""
    match value:
        case str():
            return text_fault(value)
        case float():
            return None if math.isfinite(value) else "a number in it is too large"
        case list():
            return next((fault for each in value if (fault := _json_fault(each))), None)
        case dict():
            parts = [each for pair in value.items() for each in pair]
            return next((fault for each in parts if (fault := _json_fault(each))), None)
    return None


_READ: dict[str, Any] = {
    "text": _text,
    "integer": _integer,
    "decimal": _decimal,
    "boolean": _boolean,
    "date": _date,
    "instant": _instant,
    "json": _json,
}
