"""How a text and a value are spelled out, so that the same words are the same whatever they are written like. Pure.

Case, width, accents (ü, ue and u), look-alike letters, unseen characters, HTML entities, tags, percent escapes, spacing, punctuation and the
grouping of digits make no difference. What is left are tokens: runs of letters, and runs of digits.
"""

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

SHORTEST, LONGEST = 6, 40
"""Characters of what a mark is made of: a value or, of a long one, a shingle: some of its words in a row."""
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,4000}>")
_TARGET = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]{0,200}\)){0,2000}\)")
_CUT = "\x1f"
"""Stands where something was left out: no letter, and nothing that folding changes."""
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ENTITY = re.compile(r"&(?:#|[A-Za-z])")
_ALIKE = dict(zip("авекмнорстухіјѕԁһӏԛԝɡαβεηικμνορτυχϲҽϳ", "abekmhopctyxijsdhlqwgabenikuvoptuxcej", strict=True))
"""Cyrillic and Greek letters that look like Latin ones, after case folding; values and texts in those scripts are changed alike."""
_LETTERS = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "æ": "a", "œ": "o", "ı": "i", "ħ": "h"}
_DOUBLE = re.compile(r"(a)[ae]+|([ou])e+")
_SWALLOWS = {"a": "ae", "o": "e", "u": "e"}
"""ä, ae and a are one, so are å and aa: what a letter takes in of what follows, also over the end of a token."""


@dataclass(frozen=True)
class Spelled:
    """A text's tokens in order, and where in `text` each begins (for the line it stands in). `cuts`: tokens before which something was left out."""

    text: str
    tokens: tuple[str, ...]
    starts: tuple[int, ...]
    cuts: tuple[int, ...] = ()

    @property
    def whole(self) -> str:
        """All of it as one run."""
        run = ""
        for token in self.tokens:
            run = joined(run, token)
        return run

    def line_of(self, token: int) -> int:
        """From 1."""
        return self.text.count("\n", 0, self.starts[token]) + 1

    def excerpt(self, first: int, after: int) -> str:
        """What these tokens were written like, on one line, at most 100 characters."""
        end = self.starts[after - 1] + len(self.tokens[after - 1])
        return " ".join(self.text[self.starts[first] : end].replace(_CUT, "").split())[:100]


def spell(text: str) -> Spelled:
    return _spelled(_folded(text))


def readings(text: str) -> Iterator[Spelled]:
    """A text as it is written, and, around what is left out when it is shown (tags, and where links lead), as it is shown. Lines stay lines."""
    written = _unescaped(text).replace(_CUT, " ")
    yield spell(written)
    shown = _TARGET.sub(_left_out, _TAG.sub(_left_out, written))
    if shown != written:
        yield _spelled(_folded(shown))


def joined(run: str, token: str) -> str:
    """A run that goes on with a token."""
    return run + (token.lstrip(_SWALLOWS.get(run[-1], "")) if run and token[0] in "ae" else token)


def runs(spelled: Spelled) -> Iterator[tuple[int, int, str]]:
    """Everything that can have a mark: (first token, the one after the last, their characters). Of a token that is too long its beginning.

    Where something was left out, only what goes over such a place: the rest was in the reading before.
    """
    firsts = range(len(spelled.tokens)) if not spelled.cuts else _around(spelled.cuts)
    for first in firsts:
        yield from _runs_from(spelled.tokens, first)


def _runs_from(tokens: tuple[str, ...], first: int) -> Iterator[tuple[int, int, str]]:
    run, after = "", first
    while after < len(tokens):
        run = joined(run, tokens[after])
        after += 1
        if len(run) >= LONGEST:
            if len(run) == LONGEST or after == first + 1:
                yield first, after, run[:LONGEST]
            return
        if len(run) >= SHORTEST:
            yield first, after, run


def _around(cuts: tuple[int, ...]) -> Iterator[int]:
    """Tokens from which a run can go over a cut; each once."""
    reached = 0
    for cut in cuts:
        yield from range(max(reached, cut - LONGEST), cut)
        reached = max(reached, cut)


def _spelled(folded: str) -> Spelled:
    found = [(each[0], each.start()) for each in _TOKEN.finditer(folded)]
    tokens = tuple(_DOUBLE.sub(r"\1\2", token) for token, _ in found)
    starts = tuple(start for _, start in found)
    cuts = (
        tuple(dict.fromkeys(bisect_left(starts, each.start()) for each in re.finditer(_CUT, folded)))
        if _CUT in folded
        else ()
    )
    return Spelled(folded, tokens, starts, cuts)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold()
    if plain.isascii():
        return plain
    return unicodedata.normalize("NFD", plain).translate(_table())


def _unescaped(text: str) -> str:
    for _ in range(2):
        if _ENTITY.search(text):
            text = html.unescape(text)
    return _PERCENT.sub(_percent, text) if "%" in text else text


def _percent(found: re.Match[str]) -> str:
    plain = unquote(found[0], errors="replace")
    return plain if plain.isprintable() and "\ufffd" not in plain else found[0]


def _left_out(found: re.Match[str]) -> str:
    return _CUT + "\n" * found[0].count("\n")


class _Table(dict[int, int | str | None]):
    """What becomes of a character; worked out when it is first met."""

    def __missing__(self, code: int) -> int | str | None:
        char = chr(code)
        kind = unicodedata.category(char)
        found: int | str | None = _ALIKE.get(char) or _LETTERS.get(char) or code
        if kind in {"Mn", "Me", "Cf"}:
            found = None
        elif kind == "Nd":
            found = str(unicodedata.digit(char))
        self[code] = found
        return found


@cache
def _table() -> _Table:
    return _Table()
