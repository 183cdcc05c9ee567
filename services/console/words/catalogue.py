"""The German side: one file for each subject, `"English" = "Deutsch"`; `{name}` stands for a value on both sides.

`{*name}` on the German side: the value is looked up too ("may not {what}" says what in German).
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

HERE = Path(__file__).parent
HOLE = re.compile(r"\{(\*?)([a-z_0-9]+)\}")
_KEPT = 2048
_POINTS = str.maketrans(",.", ".,")
_ENGLISH_FIGURE = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d+")


def holes(text: str) -> list[str]:
    """The names of a message's values, in order."""
    return [found[2] for found in HOLE.finditer(text)]


def fill(text: str, values: Mapping[str, str]) -> str:
    """The message with its values in it; one that is not given stays as it is written."""
    return HOLE.sub(lambda found: values.get(found[2], found[0]), text)


class Catalogue:
    """What one language has for the English."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._patterns: dict[str, list[tuple[re.Pattern[str], str]]] = {}
        # The longest literal text first: the more a pattern says, the better it fits.
        for key in sorted((key for key in texts if HOLE.search(key)), key=lambda key: -len(HOLE.sub("", key))):
            self._patterns.setdefault(_first_word(key), []).append((_pattern(key), texts[key]))
        self.told = lru_cache(_KEPT)(self._told)

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def get(self, text: str) -> str | None:
        return self._texts.get(text)

    def _told(self, text: str) -> str:
        """The translation of a text that has its values in it already; the text itself when nothing fits."""
        exact = self._texts.get(text)
        if exact is not None:
            return exact
        for pattern, there in (*self._patterns.get(_first_word(text), ()), *self._patterns.get("", ())):
            found = pattern.fullmatch(text)
            if found:
                return self._filled(there, found.groupdict())
        return text

    def _filled(self, there: str, values: Mapping[str, str]) -> str:
        looked_up = {hole[2] for hole in HOLE.finditer(there) if hole[1]}
        return fill(
            there, {name: self.told(value) if name in looked_up else _figure(value) for name, value in values.items()}
        )


def _figure(value: str) -> str:
    """A figure as it is written here; anything else as it is."""
    return value.translate(_POINTS) if _ENGLISH_FIGURE.fullmatch(value) else value


def _first_word(text: str) -> str:
    """What patterns are sorted by; empty for one that begins with a value."""
    word = text.split(" ", 1)[0]
    return "" if HOLE.search(word) else word


def _pattern(key: str) -> re.Pattern[str]:
    parts, at = [], 0
    for found in HOLE.finditer(key):
        parts += [re.escape(key[at : found.start()]), f"(?P<{found[2]}>.*?)"]
        at = found.end()
    return re.compile("".join(parts) + re.escape(key[at:]), re.DOTALL)


@cache
def catalogue(language: str) -> Catalogue:
    """Read once; a sentence that two files have must be the same in both (a test looks)."""
    texts: dict[str, str] = {}
    for path in sorted((HERE / language).glob("*.toml")):
        texts |= tomllib.loads(path.read_text(encoding="utf-8"))
    return Catalogue(texts)


def script_words(language: str) -> dict[str, str]:
    """What console.js says; empty where it speaks as it is written."""
    path = HERE / language / "script.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
