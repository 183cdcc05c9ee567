"""The forms in which connectors are declared: they agree with the kinds, and lose nothing on the way to settings and back."""

import re
from typing import Any

import pytest

from services.connectors.kinds.registry import KINDS
from services.console.connectors.domain import (
    PATTERN,
    TYPED_PATTERN,
    Declared,
    check_name,
    read_settings,
    settings_text,
)
from services.console.connectors.forms import FORMS, MORE, settings_of, typed
from shared.errors import Refused

GOOD: dict[str, dict[str, Any]] = {
    "http": {"base": "https://api.example.com/v1", "methods": ["GET", "POST"], "paths": ["/a/*"], "auth": ["bearer"], "retries": 1},
    "llm": {"provider": "anthropic", "per_minute": 60, "timeout_s": 120},
    "mail": {"hosts": ["imap.example.org", "smtp.example.org:587"], "addresses": ["10.0.0.7"]},
}  # fmt: skip


def test_every_kind_has_a_form_of_settings_that_it_takes() -> None:
    assert FORMS.keys() == KINDS.keys() == GOOD.keys()
    for kind, fields in FORMS.items():
        assert {field.name for field in fields} <= KINDS[kind].settings.model_fields.keys(), kind


@pytest.mark.parametrize("kind", list(GOOD))
def test_settings_come_back_from_their_form_as_they_went_in(kind: str) -> None:
    KINDS[kind].settings.model_validate(GOOD[kind])
    assert settings_of(kind, typed(kind, GOOD[kind])) == GOOD[kind]


def test_a_setting_stands_in_one_place_and_a_number_is_one() -> None:
    text = typed("http", GOOD["http"])
    with pytest.raises(Refused, match="stands in its field and in the JSON"):
        settings_of("http", text | {MORE: '{"base": "https://other.example"}'})
    with pytest.raises(Refused, match="whole number"):
        settings_of("http", text | {"per_minute": "1e3"})
    with pytest.raises(Refused, match="JSON object"):
        settings_of("http", text | {MORE: "[]"})


def test_settings_are_signed_in_their_canonical_form() -> None:
    assert settings_text({"b": 30.0, "a": ["ü", True, None]}) == '{"a":["ü",true,null],"b":30}'
    for bad in ({"a": 0.5}, {"ä": 1}, {"a": "x" * 40_000}, {"a": "\x00"}):
        with pytest.raises(Refused):
            settings_text(bad)
    with pytest.raises(Refused, match="same key twice"):
        read_settings('{"a":1,"a":2}')


@pytest.mark.parametrize("name", ["", "A", "-a", "a b", "a/b", "ä", "x" * 65, "a\n"])
def test_a_name_is_small_letters_digits_dash_and_underscore(name: str) -> None:
    with pytest.raises(Refused, match="small letters"):
        check_name(name)
    assert Declared("llm-2_x", "llm", {}, True).name == check_name("llm-2_x")
    assert bool(re.search(TYPED_PATTERN, name)) == bool(re.search(PATTERN, name)) and "_-]" not in TYPED_PATTERN
