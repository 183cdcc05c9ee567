"""Characters that a reader cannot see or that turn the order of what she sees (S13)."""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
_KEPT = "\n\t\r"
_NAMES = {
    "\u115f": "HANGUL CHOSEONG FILLER",
    "\u1160": "HANGUL JUNGSEONG FILLER",
    "\u3164": "HANGUL FILLER",
    "\uffa0": "HALFWIDTH HANGUL FILLER",
    "\u2800": "BRAILLE PATTERN BLANK",
    "\u034f": "COMBINING GRAPHEME JOINER",
    "\u2028": "LINE SEPARATOR",
    "\u2029": "PARAGRAPH SEPARATOR",
}
_ASCII_ONLY = re.compile(r"[\x20-\x7e\n\t\r]*\Z")


def _hidden(char: str, before: str) -> bool:
    if char >= "\ufe00" and unicodedata.name(char, "").startswith("VARIATION SELECTOR"):
        return not _varies(before)
    return char not in _KEPT and (char in _NAMES or unicodedata.category(char) in ("Cf", "Cc"))


def _varies(before: str) -> bool:
    """A selector after a sign or an ideograph picks its form; after a letter, a space or another selector it hides data."""
    if before.isascii():
        return before != "" and before in "#*0123456789"
    kind = unicodedata.category(before)
    is_letter = (
        kind in ("Ll", "Lu") and before < "\u2100"
    )  # above stand signs that count as letters, such as the information sign
    return not is_letter and kind not in ("Mn", "Zs", "Cf")


def _joins(before: str, after: str) -> bool:
    """A joiner between emoji, or between letters of a script that is written with joiners, is part of the writing."""
    if not before or not after:
        return False
    if unicodedata.category(after) in ("So", "Sk"):
        return True
    return all("\u0600" <= each < "\u1000" for each in (before, after))


def _name(char: str) -> str:
    return str(_NAMES.get(char) or unicodedata.name(char, f"CONTROL U+{ord(char):04X}"))


def invisible(text: str) -> list[tuple[int, int, str]]:
    """(line, column, Unicode name) of every invisible, control or bidi character; both count from 1.

    Tab and line ends are not reported, nor joiners inside emoji and inside scripts that are written with them.
    """
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if _ASCII_ONLY.match(line):
            continue
        for column, char in enumerate(line):
            if char < "\x7f" and char >= " ":
                continue
            if _hidden(char, line[column - 1 : column]) and not (
                char in _JOINERS and _joins(line[column - 1 : column], line[column + 1 : column + 2])
            ):
                found.append((number, column + 1, _name(char)))
    return found
