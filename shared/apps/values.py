"""Values as they travel in frames: what JSON has as it is, the others as {"$": type, "v": text}."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> Any:
    """TypeError for what no column holds."""
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return {"$": "decimal", "v": str(value)}
        case datetime():
            return {"$": "instant", "v": value.isoformat()}
        case date():
            return {"$": "date", "v": value.isoformat()}
        case list() | dict():
            return {"$": "json", "v": json.dumps(value, ensure_ascii=False)}
    raise TypeError(
        f"a value of type {type(value).__name__} fits no column; use text, int, Decimal, bool, date, datetime, list or dict"
    )


def from_json(value: Any) -> Any:
    """ValueError for what `to_json` would not have made."""
    if not isinstance(value, dict):
        if isinstance(value, float | list):
            raise ValueError("a value is no scalar")  # noqa: TRY004 - what came is off, not this program
        return value
    kind, text = value.get("$"), str(value.get("v"))
    match kind:
        case "decimal":
            return Decimal(text)
        case "instant":
            return datetime.fromisoformat(text)
        case "date":
            return date.fromisoformat(text)
        case "json":
            return json.loads(text)
    raise ValueError(f"a value of unknown type {kind!r}")
