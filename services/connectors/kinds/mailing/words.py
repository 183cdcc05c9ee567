"""Encoded words of headers (RFC 2047), read leniently and written exactly."""

import base64
import binascii
import re

from services.connectors.kinds.mailing.charsets import decode_bytes
from services.connectors.kinds.mailing.text import REPLACEMENT

_WORD = re.compile(r"=\?([A-Za-z0-9_.:+-]{1,40})(?:\*[A-Za-z0-9-]{0,40})?\?([bBqQ])\?([^?\s]*)\?=")
_ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})")
CHUNK = 42
"""Bytes of text in one encoded word: 56 characters of base64, 68 with its frame; at most 75 are allowed."""


def decode_words(text: str) -> str:
    """The text with its encoded words decoded, once. May hold line breaks and anything else: the check comes after this."""
    made: list[str] = []
    held: list[bytes] = []
    charset, end = "", 0
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        joined = bool(held) and not between.strip()
        if held and not (joined and word[1].lower() == charset):
            made.append(decode_bytes(b"".join(held), charset))
            held = []
        if not joined:
            made.append(between)
        held.append(_payload(word[2].lower(), word[3]))
        charset, end = word[1].lower(), word.end()
    if held:
        made.append(decode_bytes(b"".join(held), charset))
    return "".join(made) + text[end:]


def encode_words(text: str) -> list[str]:
    """Encoded words in UTF-8, cut between characters; to be joined by folds."""
    made, held = [], b""
    for char in text:
        raw = char.encode()
        if len(held) + len(raw) > CHUNK:
            made.append(held)
            held = b""
        held += raw
    return [f"=?utf-8?B?{base64.b64encode(each).decode()}?=" for each in [*made, held] if each]


def _payload(encoding: str, found: str) -> bytes:
    raw = found.encode("utf-8", "replace")
    if encoding == "q":
        return _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), raw.replace(b"_", b" "))
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return REPLACEMENT.encode()
