"""Text that comes out of a mail, and text that goes into a header (rule 19).

A mail is hostile: what is not Unicode text becomes U+FFFD and is flagged, and a header stays one line whatever its encoded words decode to.
"""

import re
import unicodedata

from schemas.text import text_fault
from shared.errors import Refused

REPLACEMENT = "\ufffd"
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_BREAKS = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029]+")
DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the order of what a reader sees."""
LONGEST_NAME = 255
"""Bytes of a file's name (rule 14)."""


class Cleaner:
    """For one mail. `flagged`: something had to be replaced."""

    def __init__(self) -> None:
        self.flagged = False

    def text(self, found: str) -> str:
        """NUL and lone surrogates become U+FFFD; all else stays as it is."""
        made = _NOT_TEXT.sub(REPLACEMENT, found)
        self.flagged = self.flagged or made != found
        return made

    def line(self, found: str, most: int = 1000) -> str:
        """One flat line: runs of breaks, controls and spaces become one space. Longer ones are cut."""
        return _BREAKS.sub(" ", self.text(found)).strip()[:most]

    def file_name(self, found: str, otherwise: str) -> str:
        """A name to show and to store: no folders, no controls, no direction marks, not only dots, at most 255 bytes."""
        shown = "".join(char for char in self.line(found) if char not in DIRECTIONS)
        name = unicodedata.normalize("NFC", re.split(r"[/\\]", shown)[-1]).strip()
        if not name.strip("."):
            return otherwise
        stem, dot, ending = name.rpartition(".")
        tail = dot + ending if stem and len(ending) <= 16 else ""
        return _cut(name.removesuffix(tail), LONGEST_NAME - len(tail.encode())) + tail


def check_line(what: str, text: str, most: int) -> None:
    """What goes into a header must be one line already: it is refused, not mended (EM-02). Refused (code `header`)."""
    check_text(what, text)
    for char in text:
        if unicodedata.category(char) in {"Cc", "Zl", "Zp"}:
            raise Refused(
                f"{what} has a line break or control character (U+{ord(char):04X}); give it as one line", code="header"
            )
    if len(text) > most:
        raise Refused(f"{what} has {len(text)} characters; at most {most} fit", code="header")


def check_text(what: str, text: str) -> None:
    if fault := text_fault(text):
        raise Refused(f"{what}: {fault}", code="text")


def check_name(what: str, text: str, most: int) -> None:
    """A line that names something: direction marks could make it look like another."""
    check_line(what, text, most)
    if any(char in DIRECTIONS for char in text):
        raise Refused(f"{what} has characters that turn the direction of writing; leave them out", code="header")


def _cut(name: str, most: int) -> str:
    return name.encode()[:most].decode("utf-8", "ignore")
