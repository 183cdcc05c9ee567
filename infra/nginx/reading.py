"""An nginx.conf read as nginx reads it: directives with words, some with a block."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from shared.errors import Refused

_TOKEN = re.compile(r"""\s+|\#[^\n]*|(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<mark>[{};])|(?P<word>(?:\$\{|[^\s{};"'\#])(?:\$\{\w+\}|[^\s{};])*)""", re.S)  # fmt: skip


@dataclass
class Directive:
    """`words` without the name; `inside` is None where there is no block."""

    name: str
    words: tuple[str, ...] = ()
    inside: "list[Directive] | None" = None
    outer: "Directive | None" = field(default=None, repr=False)

    def all(self, name: str) -> "Iterator[Directive]":
        """Directives of that name directly inside."""
        return (each for each in self.inside or () if each.name == name)

    def deep(self) -> "Iterator[Directive]":
        """Everything inside, at any depth."""
        for each in self.inside or ():
            yield each
            yield from each.deep()

    def in_force(self, name: str) -> "list[Directive]":
        """What counts here: the nearest level that has any of that name (nginx inherits lists whole or not at all)."""
        place: Directive | None = self
        while place is not None:
            if found := list(place.all(name)):
                return found
            place = place.outer
        return []

    @property
    def value(self) -> str:
        return " ".join(self.words)


def read(text: str) -> Directive:
    """The whole file as the inside of one nameless directive. Refused when it is none."""
    root = here = Directive("", (), [])
    words: list[str] = []
    for piece in _pieces(text):
        if piece == ";":
            _add(here, words, None)
        elif piece == "{":
            here = _add(here, words, [])
        elif piece == "}":
            if here.outer is None or words:
                raise Refused("the configuration is none that nginx could read: a } too many")
            here = here.outer
        else:
            words.append(piece)
    if here is not root or words:
        raise Refused("the configuration is none that nginx could read: it ends too early")
    return root


def _add(here: Directive, words: list[str], inside: list[Directive] | None) -> Directive:
    if not words or here.inside is None:
        raise Refused("the configuration is none that nginx could read: a word is missing")
    found = Directive(words[0], tuple(words[1:]), inside, here)
    here.inside.append(found)
    words.clear()
    return found


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Refused(f"the configuration cannot be read at {text[at : at + 20]!r}")
        at = found.end()
        if found["quoted"]:
            yield found["quoted"][1:-1]
        elif found["mark"] or found["word"]:
            yield found["mark"] or found["word"]
