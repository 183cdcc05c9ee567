"""Our credentials in somebody else's answer: whoever echoes one, in whatever spelling, does not tell it to the asker."""

import base64
import html
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from services.connectors.secrets.types import SecretValue
from shared.sealing import TYPES

SHORTEST = 4
"""Bytes. A shorter value would be found in any text."""
NOTE = "an echoed credential was masked"


class Mask:
    """Puts `*` in place of each spelling of the values, byte for byte, so that lengths stay. `found`: whether there was one."""

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {each for value in values for each in spellings(value)}
        self._spellings = sorted(spelled, key=len, reverse=True)
        self._longest = len(self._spellings[0]) if self._spellings else 0
        self._held = b""
        self.found = False

    def feed(self, chunk: bytes) -> bytes:
        """What may go on: only an end that could be the beginning of a spelling waits for the next chunk."""
        if not self._spellings:
            return chunk
        masked = self.whole(self._held + chunk)
        begin = self._begins(masked)
        self._held = masked[begin:]
        return masked[:begin]

    def end(self) -> bytes:
        """What was held back: it turned out to be harmless."""
        held, self._held = self._held, b""
        return held

    def whole(self, text: bytes) -> bytes:
        for each in self._spellings:
            if each in text:
                self.found = True
                text = text.replace(each, b"*" * len(each))
        return text

    def header(self, value: str) -> str:
        return self.whole(value.encode("latin-1", "replace")).decode("latin-1")

    def _begins(self, text: bytes) -> int:
        """Where the longest end of `text` begins that a spelling begins with; its length when there is none."""
        first = max(0, len(text) - self._longest + 1)
        starts = (at for each in self._spellings for at in _candidates(text, each, first))
        return min(starts, default=len(text))


def _candidates(text: bytes, spelling: bytes, first: int) -> Iterator[int]:
    """The first place, from `first`, at which `text` ends within `spelling`. Most are ruled out by their first bytes."""
    short = spelling[:SHORTEST]
    at = text.find(short, max(first, len(text) - len(spelling) + 1))
    while at != -1:
        if spelling.startswith(text[at:]):
            yield at
            return
        at = text.find(short, at + 1)
    yield from (at for at in range(max(first, len(text) - SHORTEST + 1), len(text)) if spelling.startswith(text[at:]))


def values_of(secret: SecretValue) -> tuple[str, ...]:
    """The fields of a secret that are values: the others are public."""
    return tuple(secret.fields[name] for name in TYPES[secret.type].secret_names() if secret.fields.get(name))


def spellings(value: str) -> set[bytes]:
    """The value plain, escaped for URLs, JSON and HTML, in hex and in base64, alone or as part of something longer."""
    raw = value.encode()
    if len(raw) < SHORTEST:
        return set()
    texts = {value, value.lower(), value.upper(), value[::-1], *_escaped(value), *_in_figures(raw)}
    texts |= {json.dumps(each)[1:-1] for each in texts}  # in JSON a backslash is two
    in_base64 = _base64(raw)
    doubled = {each for once in in_base64 for each in (*_base64(once), quote(once, safe="").encode())}
    return {each.encode() for each in texts} | {each for each in in_base64 | doubled if len(each) >= SHORTEST}


def _escaped(value: str) -> set[str]:
    in_json = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    slashed = {each.replace("/", "\\/") for each in in_json}
    urls = {quote(value, safe=""), quote_plus(value, safe=""), quote(value), quote(quote(value, safe=""), safe="")}
    lowered = {_lower_percent(each) for each in urls}
    return in_json | slashed | urls | lowered | {html.escape(value), html.escape(value, quote=False)}


def _in_figures(raw: bytes) -> set[str]:
    forms = ("%02x", "%%%02x", "\\x%02x", "\\u%04x", "&#x%x;", "&#%d;")
    plain = {"".join(form % byte for byte in raw) for form in forms} | {raw.hex(" "), raw.hex(":")}
    upper = {"".join(form % byte for byte in raw) for form in ("%02X", "%%%02X", "\\x%02X", "\\u%04X", "&#x%X;")}
    return plain | upper | {raw.hex(" ").upper(), raw.hex(":").upper()}


def _base64(raw: bytes) -> set[bytes]:
    """Both alphabets, at each of the three places that a value can have in something longer: the characters that are its own."""
    found = set()
    for before in range(3):
        spelled = base64.b64encode(b"\0" * before + raw)
        own = spelled[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        found |= {own, own.replace(b"+", b"-").replace(b"/", b"_")}
    return found


def _lower_percent(text: str) -> str:
    parts = text.split("%")
    return "%".join([parts[0], *(each[:2].lower() + each[2:] for each in parts[1:])])
