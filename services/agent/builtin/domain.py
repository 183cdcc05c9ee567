"""What the built-in model sees, and what it can answer with. It decides by rules alone: the same scene gives the same step."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Lang = Literal["en", "de"]


@dataclass(frozen=True)
class Result:
    """A tool that has run for this message. `trouble`: why it did not, in words, and `code` for programs; `card`: it waits on a person's decision, at this link."""

    tool: str
    value: Any = None
    trouble: str = ""
    card: str = ""
    code: str = ""


@dataclass(frozen=True)
class Scene:
    """One request to the model: what the person said last, what tools this role is offered, what they have brought so far.

    `before` is what the model itself said last, `earlier` what the person said before, the newest first; `behavior` how the owner wants it to be;
    `past` what tools brought for the messages before, the newest first: "it" and "the second" are among that.
    """

    text: str
    lang: Lang
    offered: frozenset[str]
    results: tuple[Result, ...] = ()
    before: str = ""
    earlier: tuple[str, ...] = ()
    behavior: str = ""
    is_guest: bool = False
    past: tuple[Result, ...] = ()

    def result(self, tool: str) -> Result | None:
        """The newest one of that tool."""
        return next((each for each in reversed(self.results) if each.tool == tool), None)

    def say(self, en: str, de: str) -> str:
        return de if self.lang == "de" else en


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Use:
    """Tools to run, in this order, before the model is asked again."""

    calls: tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True)
class Taken:
    """What a phrase took out of a message, by name; a part that it did not name is empty."""

    parts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.parts.get(name, "")


Step = Say | Use
Act = Callable[[Scene, Taken], Step]
HEAD = 800
"""Characters of a message that phrases are looked for in. What comes after belongs to the part that reaches up to there: no text can
make a pattern run long."""


@dataclass(frozen=True)
class Intent:
    """One thing that a person may want. The first pattern that fits the whole message counts; `needs` are its tools. `when`: whether what was said before
    lets it be meant, for words such as "the second" or "mark it as read"."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    act: Act
    needs: tuple[str, ...] = ()
    when: Callable[[Scene], bool] = field(default=lambda _: True)

    def match(self, text: str) -> Taken | None:
        """What the first fitting phrase takes; None when none fits."""
        head = text[:HEAD]
        for pattern in self.patterns:
            found = pattern.fullmatch(head)
            if found is not None:
                rest = text[HEAD:]
                return Taken({name: part + rest if found.end(name) == len(head) else part for name, part in found.groupdict("").items()})  # fmt: skip
        return None
