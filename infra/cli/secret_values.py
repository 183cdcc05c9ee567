"""Where the command line gets a secret's value from: a prompt without echo, or stdin. It leaves this process sealed."""

import base64
import getpass
import json
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer

from infra.local.layout import Layout
from schemas.outward import SecretPlace, SecretType
from shared.errors import Refused
from shared.sealing import TYPES, check_fields, read_recipient, seal

LARGEST = 64 * 1024
"""Bytes that are read from stdin."""
_UNITS = {"m": 60, "h": 3600, "d": 86400}


def public_fields(kind: SecretType, given: Sequence[str]) -> dict[str, str]:
    """`name=text` pairs of fields that are no values. Refused for a value: other users of the machine see arguments."""
    model, found = TYPES[kind], {}
    for each in given:
        name, equals, text = each.partition("=")
        if name in model.secret_names():
            raise Refused(
                f"{name} is a value: it is asked for, or read from stdin. As an argument others have seen it; make a new one.",
                code="argument",
            )
        if not equals or name not in model.public_names():
            takes = ", ".join(model.public_names()) or "none"
            raise Refused(f"--set takes NAME=TEXT; the names of {kind} are: {takes}", code="argument")
        found[name] = text
    return found


def sealed_fields(
    state: Path, place: SecretPlace, kind: SecretType, public: Mapping[str, str], as_object: bool
) -> tuple[dict[str, str], str]:
    """What may be shown, and the sealed file in base64. Refused says which field is off, never what was given."""
    given = _asked(kind, public) if sys.stdin.isatty() else dict(public) | _read(kind, as_object)
    fields = check_fields(kind, given)
    sealed = seal(read_recipient(Layout(state.resolve()).public_keys), place, kind, given)
    return fields.public(), base64.b64encode(sealed).decode()


def read_span(text: str) -> timedelta:
    """`90d`, `12h`, `30m`, `0`."""
    found = re.fullmatch(r"(\d{1,5})([mhd])", text)
    if found is None and text != "0":
        raise Refused(f"{text!r} is no time: write 30m, 12h or 90d", code="time")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]] if found else 0)


def _read(kind: SecretType, as_object: bool) -> dict[str, Any]:
    """From stdin: the one value, without a last line's end; or with --fields a JSON object."""
    text = _text(sys.stdin.buffer.read(LARGEST + 1))
    if as_object:
        return _object(text)
    needed = [name for name in TYPES[kind].secret_names() if TYPES[kind].model_fields[name].is_required()]
    if len(needed) != 1:
        raise Refused(f"{kind} has several values; give them with --fields as one JSON object on stdin", code="stdin")
    return {needed[0]: text.removesuffix("\n").removesuffix("\r")}


def _text(raw: bytes) -> str:
    if len(raw) > LARGEST:
        raise Refused(f"stdin has more than {LARGEST} bytes; a secret has less", code="stdin")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Refused("stdin is not UTF-8 text", code="stdin") from None


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise Refused("stdin is no JSON object of the type's fields", code="stdin") from None
    if not isinstance(found, dict) or not all(isinstance(each, str | int) for each in found.values()):
        raise Refused("stdin is no JSON object of the type's fields", code="stdin")
    return found


def _asked(kind: SecretType, public: Mapping[str, str]) -> dict[str, str]:
    """At a terminal: what is missing is asked for, values without echo. Empty where a field may be."""
    if kind == "signing_key":
        raise Refused("a signing key may have several lines: give it on stdin, `… < key.pem`", code="stdin")
    model, found = TYPES[kind], dict(public)
    for name in model.public_names():
        if name not in found and model.model_fields[name].is_required():
            found[name] = typer.prompt(name, err=True)
    for name in model.secret_names():
        text = _hidden(name if model.model_fields[name].is_required() else f"{name} (empty: none)")
        if text:
            found[name] = text
    return found


def _hidden(name: str) -> str:
    """Echo is off before the prompt appears, and what was typed before that is thrown away. Refused where it cannot be turned off."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(f"{name}: ")
    except getpass.GetPassWarning:
        raise Refused("this terminal would show the value; give it on stdin", code="terminal") from None
    except EOFError:
        raise Refused("nothing was typed; nothing was changed", code="terminal") from None
