"""The form in which a connector of a kind is declared: its usual settings as fields, all others as JSON. The connectors check them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from services.console.connectors.domain import read_settings
from services.console.forms import Form
from shared.errors import Refused

Shape = Literal["line", "lines", "words", "number"]


@dataclass(frozen=True)
class Field:
    """One setting. `shape`: a line, one entry a line, words apart by blanks, or a whole number."""

    name: str
    label: str
    shape: Shape = "line"
    about: str = ""
    example: str = ""


_BASE = Field("base", "Base address", about="What the connector's own name stands for. Credentials go there and nowhere else.", example="https://api.example.com/v1")  # fmt: skip
_HOSTS = Field("hosts", "Other hosts, one a line", "lines", "host, host:port or *.host. Nothing else is ever reached.")
_ADDRESSES = Field("addresses", "Private addresses, one a line", "lines", "Such as 10.0.0.7 or 127.0.0.1. A name that leads to a private address is dialled only when it stands here.")  # fmt: skip
_MINUTE = Field("per_minute", "Calls a minute, of each asker", "number", "600 when empty.")
_AUTH = Field("auth", "How its secret goes along", "words", "bearer, header, query, basic or oauth2; empty: it needs none.")  # fmt: skip
FORMS: dict[str, tuple[Field, ...]] = {
    "http": (
        _BASE,
        Field("methods", "Methods", "words", "GET when empty.", "GET POST"),
        Field("paths", "Paths, one a line", "lines", "Below the base address; * is a segment, ** several.", "/**"),
        _AUTH,
        _HOSTS,
        _ADDRESSES,
        _MINUTE,
    ),
    "llm": (
        Field("provider", "Provider", about="Whose interface it speaks: openai or anthropic.", example="openai"),
        Field("base", "Base address", about="The provider's own when empty.", example="https://api.openai.com/v1"),
        _HOSTS,
        _ADDRESSES,
        _MINUTE,
    ),
    "mail": (
        Field("hosts", "Mail servers, one a line", "lines", "Such as imap.example.org, smtp.example.org:587."),
        _ADDRESSES,
        _MINUTE,
    ),
}
"""The kinds that have a form of their own; any other is declared as JSON."""
MORE = "more"


def fields_of(kind: str) -> tuple[Field, ...]:
    return FORMS.get(kind, ())


def typed(kind: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """What the form shows for these settings; what has no field is in `more`."""
    fields = fields_of(kind)
    shown = {each.name: _text(each, settings[each.name]) for each in fields if each.name in settings}
    rest = {name: value for name, value in settings.items() if name not in shown}
    return {each.name: "" for each in fields} | shown | {MORE: json.dumps(rest, indent=2, ensure_ascii=False) if rest else ""}  # fmt: skip


def given(kind: str, form: Form) -> dict[str, str]:
    """What somebody typed, to be shown again."""
    return {name: form.text(name) for name in (*(each.name for each in fields_of(kind)), MORE)}


def settings_of(kind: str, text: Mapping[str, str]) -> dict[str, Any]:
    """The settings; a field that is empty is left out. Refused when a number is none or a setting is named twice."""
    found = {each.name: _value(each, text[each.name].strip()) for each in fields_of(kind) if text[each.name].strip()}
    rest = read_settings(text[MORE]) if text[MORE].strip() else {}
    if twice := sorted(found.keys() & rest.keys()):
        raise Refused(f"{twice[0]} stands in its field and in the JSON; leave one of them empty.", code="settings")
    return found | rest


def _text(field: Field, value: Any) -> str:
    if isinstance(value, list) and field.shape in ("lines", "words"):
        return ("\n" if field.shape == "lines" else " ").join(str(each) for each in value)
    return str(value)


def _value(field: Field, text: str) -> Any:
    match field.shape:
        case "lines":
            return [line.strip() for line in text.splitlines() if line.strip()]
        case "words":
            return text.replace(",", " ").split()
        case "number":
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                raise Refused(f"{field.label}: write a whole number.", code="settings")
            return int(text)
    return text
