"""A text as tokens, and what a reader of it may ask. One pass, so that no text takes long."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from shared.schedules.words.domain import Lang
from shared.schedules.words.language import spoken
from shared.schedules.words.vocabulary import HABITS, ORDINALS, PARTS, WEEKDAYS, fold

Kind = Literal["iso", "clock", "date", "slash", "dotted", "ordinal", "number", "word", "mark"]
MOST_DIGITS = 9
_TOKEN = re.compile(
    r"(?P<iso>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})(?:T(?=[0-9]))?"
    r"|(?P<clock>[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?(?![0-9]))"
    r"|(?P<date>[0-9]{1,2}\. ?[0-9]{1,2}\.(?: ?[0-9]{4}(?![0-9:])|[0-9]{2}(?![0-9:]))?)"
    r"|(?P<slash>[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{4})?(?![0-9/]))"
    r"|(?P<dotted>[0-9]{1,9}[.,][0-9]{1,9})"
    r"|(?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th|ter|ten)\b|[0-9]{1,2}\.(?![0-9]))"
    r"|(?P<number>[0-9]+)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)"
    r"|(?P<mark>\S)",
    re.IGNORECASE,
)
_MERIDIAN = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_GLUED_MERIDIAN = re.compile(r"(?<=[0-9])([ap])\.\s?m\b\.?", re.IGNORECASE)
_DAYS = sorted((each for each in WEEKDAYS if each.endswith(("tag", "woch", "abend"))), key=len, reverse=True)


@dataclass(frozen=True)
class Token:
    kind: Kind
    raw: str
    key: str
    start: int
    end: int

    @property
    def number(self) -> int:
        """Of a number or an ordinal."""
        digits = re.match(r"[0-9]+", self.raw)
        return int(digits[0]) if digits and len(digits[0]) <= MOST_DIGITS else 10**MOST_DIGITS


@dataclass(frozen=True)
class Line:
    text: str
    tokens: tuple[Token, ...]
    otherwise: Lang = "en"
    strict: bool = False
    """Whether two letters are a day only where they are written as one ("Do", not "do")."""

    @cached_property
    def lang(self) -> Lang:
        return spoken((each.key for each in self.tokens), self.otherwise)

    def key(self, at: int) -> str:
        return self.tokens[at].key if 0 <= at < len(self.tokens) else ""

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def number(self, at: int) -> int:
        return self.tokens[at].number

    def ordinal(self, at: int) -> int | None:
        """1st, 15., first, ersten; the last is -1."""
        return self.number(at) if self.kind(at) == "ordinal" else ORDINALS.get(self.key(at))

    def has(self, at: int, words: Container[str]) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].key in words

    def skip(self, at: int, words: Container[str]) -> int:
        """The next place that holds none of these."""
        while self.has(at, words):
            at += 1
        return at

    def say(self, en: str, de: str) -> str:
        return de if self.lang == "de" else en


def read_line(text: str, otherwise: Lang = "en", strict: bool = False) -> Line:
    text = _GLUED_MERIDIAN.sub(_level, _MERIDIAN.sub(_level, unicodedata.normalize("NFC", text)))
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        kind: Kind = found.lastgroup or "mark"  # type: ignore[assignment]
        raw = found[kind]
        tokens.extend(_split(Token(kind, raw, fold(raw), found.start(), found.end())))
    return Line(text, tuple(_merged(tokens)), otherwise, strict)


def _merged(tokens: list[Token]) -> list[Token]:
    """ "Working day" and "business days" as the word for it."""
    found: list[Token] = []
    for token in tokens:
        if found and found[-1].key in ("working", "business") and token.key in ("day", "days"):
            first = found.pop()
            raw = f"{first.raw} {token.raw}"
            found.append(replace(token, raw=raw, key=f"week{token.key}", start=first.start))
        else:
            found.append(token)
    return found


def _level(found: re.Match[str]) -> str:
    """`a.m.` as `am`, as long as it was: places in the text stay."""
    return f"{found[1]}m".ljust(len(found[0]))


def _split(token: Token) -> list[Token]:
    """ "Sonntagabend" and "freitagnachmittags" as two words."""
    if token.kind != "word" or token.key in WEEKDAYS or token.key in HABITS:
        return [token]
    day = next((each for each in _DAYS if token.key.startswith(each) and len(token.key) > len(each)), "")
    rest = token.key[len(day) :]
    if not day or (rest not in PARTS and rest != "morgen"):
        return [token]
    cut = token.start + len(day)
    return [
        Token("word", token.raw[: len(day)], day, token.start, cut),
        Token("word", token.raw[len(day) :], rest, cut, token.end),
    ]
