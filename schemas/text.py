"""Strict JSON and text: what may stand in an event, and the canonical form that is hashed and signed."""

import hashlib
import json
from typing import Any


class BadJson(ValueError):
    """The bytes are not JSON as this system reads it; the message says why."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadJson("a JSON object names the same key twice")
    return found


def _refuse_constant(name: str) -> None:
    raise BadJson(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)
"""Kept: json.loads makes a new one for each call with hooks, which costs as much as reading a small event."""


def parse_json(raw: bytes) -> Any:
    """Parse UTF-8 JSON; refuses duplicate keys, NaN and anything that is not UTF-8."""
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except BadJson:
        raise
    except (ValueError, RecursionError) as error:
        raise BadJson(f"not JSON: {error}") from None


def canonical(value: Any) -> bytes:
    """RFC 8785 form of strings, integers, booleans, null, lists and objects with ASCII keys.

    Within these bounds sorted compact JSON *is* the RFC 8785 form (a test compares both);
    floats are refused, since their spelling is where implementations differ.
    """
    _only_exact(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def _only_exact(value: Any) -> None:
    match value:
        case None | bool() | int() | str():
            return
        case list():
            for each in value:
                _only_exact(each)
        case dict():
            for key, each in value.items():
                if not (isinstance(key, str) and key.isascii()):
                    raise TypeError("canonical form takes ASCII keys only")
                _only_exact(each)
        case _:
            raise TypeError(f"canonical form takes no {type(value).__name__}")


def sha256(raw: bytes) -> str:
    """Lower-case hex SHA-256."""
    return hashlib.sha256(raw).hexdigest()


def text_fault(text: str) -> str | None:
    """Why this text from a person or an API is refused (rule 19), or None.

    NUL cannot be stored by PostgreSQL; a lone surrogate is not Unicode text.
    """
    if "\x00" in text:
        return f"the text has a NUL character at position {text.index(chr(0))}; remove it"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the text has a lone surrogate at position {error.start}; it is not valid Unicode"
    return None
