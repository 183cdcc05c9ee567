"""What a connector is declared with, as people type it. Whether it fits its kind the connectors say. No framework."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from schemas.outward import Name
from schemas.text import BadJson, canonical, parse_json, text_fault
from shared.errors import Conflict, Refused

MAX_REASON = 500
MAX_SETTINGS = 32 * 1024
UNANSWERED = timedelta(minutes=1)
"""After so long somebody may decide again: whichever arrives first counts, and the other is refused as a conflict."""
_NAME: TypeAdapter[str] = TypeAdapter(Name)
PATTERN = next(each.pattern for each in get_args(Name)[1].metadata if getattr(each, "pattern", None))
TYPED_PATTERN = PATTERN.replace("-]", r"\-]")
"""For a form: browsers read it with the v flag, where a bare - at the end of a class makes the whole pattern void."""


@dataclass(frozen=True)
class Declared:
    """`settings`: the kind's own, never a secret."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    enabled: bool


def check_name(name: str, what: str = "A connector's name") -> str:
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise Refused(
            f"{what} has 1 to 64 small letters, digits, _ and -, and begins with a letter or digit.", code="name"
        ) from None


def check_why(reason: str) -> str:
    """The reason on one line."""
    clean = " ".join(reason.split())
    if not clean or len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"Say why, in 1 to {MAX_REASON} characters; it is kept.", code="reason")
    return clean


def settings_text(settings: Mapping[str, Any]) -> str:
    """Canonical JSON; Refused where there is no such form."""
    try:
        found = canonical(_whole(dict(settings))).decode()
    except TypeError as error:
        raise Refused(
            f"The settings take texts, whole numbers, yes and no, and lists of them: {error}.", code="settings"
        ) from None
    if len(found.encode()) > MAX_SETTINGS:
        raise Refused(f"The settings have at most {MAX_SETTINGS // 1024} KiB.", code="settings")
    return found


def read_settings(text: str) -> dict[str, Any]:
    """JSON as people write it: an object."""
    try:
        found = parse_json(text.encode("utf-8", "surrogatepass"))
    except BadJson as error:
        raise Refused(f"The settings are {error}.", code="settings") from None
    if not isinstance(found, dict):
        raise Refused("The settings are a JSON object: {…}.", code="settings")
    return found


def pretty(settings: str) -> str:
    """For people to read and edit."""
    return json.dumps(json.loads(settings), indent=2, ensure_ascii=False)


def check_free(change: Mapping[Any, Any] | None, what: str, present: datetime) -> None:
    """Conflict while an earlier change is on its way; `change` is the newest one about the same thing."""
    if change is not None and change["outcome"] == "sent" and change["at"] > present - UNANSWERED:
        raise Conflict(f"{change['by_name']} changed {what} a moment ago; that is on its way. Nothing was changed.")


def _whole(value: Any) -> Any:
    """30.0 is 30: signed text has whole numbers only."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case str() if fault := text_fault(value):
            raise Refused(f"The settings cannot be kept: {fault}.", code="settings")
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {name: _whole(each) for name, each in value.items()}
    return value
