"""What the command line takes as a secret's value, and from where."""

import io
import sys
from datetime import timedelta

import pytest

from infra.cli.secret_values import _asked, _read, public_fields, read_span
from schemas.outward import SecretType
from shared.errors import Refused


def test_a_value_is_never_an_argument() -> None:
    with pytest.raises(Refused, match="is asked for, or read from stdin") as caught:
        public_fields("basic", ["username=m", "password=planted"])
    assert "planted" not in repr(caught.value)
    assert public_fields("imap", ["host=imap.example.org", "username=a=b"]) == {
        "host": "imap.example.org",
        "username": "a=b",
    }


@pytest.mark.parametrize("given", ["planted", "planted=x", "=x"])
def test_an_unknown_field_is_refused_with_those_there_are(given: str) -> None:
    with pytest.raises(Refused, match="the names of basic are: username") as caught:
        public_fields("basic", [given])
    assert "planted" not in repr(caught.value)


def read(monkeypatch: pytest.MonkeyPatch, raw: bytes, kind: SecretType, as_object: bool = False) -> dict[str, object]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    return _read(kind, as_object)


@pytest.mark.parametrize(
    ("raw", "value"), [(b"v\n", "v"), (b"v\r\n", "v"), (b" v \n\n", " v \n"), ("ü€".encode(), "ü€")]
)
def test_stdin_is_the_value_without_the_last_lines_end(monkeypatch: pytest.MonkeyPatch, raw: bytes, value: str) -> None:
    assert read(monkeypatch, raw, "api_key") == {"key": value}


@pytest.mark.parametrize(
    ("raw", "kind", "as_object", "says"),
    [
        (b"planted", "oauth2", False, "several values"),
        (b"planted", "api_key", True, "no JSON object"),
        (b'["planted"]', "api_key", True, "no JSON object"),
        (b'{"key": ["planted"]}', "api_key", True, "no JSON object"),
        (b"planted\xff", "api_key", False, "not UTF-8"),
        (b"planted" * 10_000, "api_key", False, "more than 65536 bytes"),
    ],
)
def test_what_stdin_cannot_be_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, kind: SecretType, as_object: bool, says: str
) -> None:
    with pytest.raises(Refused, match=says) as caught:
        read(monkeypatch, raw, kind, as_object)
    assert "planted" not in repr(caught.value) and caught.value.__cause__ is None


def test_a_signing_key_is_not_typed() -> None:
    with pytest.raises(Refused, match="on stdin"):
        _asked("signing_key", {})


def test_spans_are_minutes_hours_and_days() -> None:
    assert [read_span(each) for each in ("0", "30m", "12h", "90d")] == [
        timedelta(0),
        timedelta(minutes=30),
        timedelta(hours=12),
        timedelta(days=90),
    ]
    for wrong in ("", "1", "1w", "-1d", "1.5h", "999999d"):
        with pytest.raises(Refused, match="is no time"):
            read_span(wrong)
