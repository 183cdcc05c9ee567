"""One line of the inventory: something that somebody may do, as it must be and as it is."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["expected", "missing", "extra", "different", "unknown", "open"]
Area = Literal["postgres", "bus", "files", "processes", "users"]
AREAS: tuple[Area, ...] = ("postgres", "bus", "files", "processes", "users")
SURFACES = ("agent", "console", "site", "connectors", "bridge", "postgres", "nats", "installation")
"""Whose right it is: a service, one of the two servers, or nobody's in particular. The order in which they are shown."""
NOTHING = ""
Key = tuple[str, str]
"""(surface, what)."""
Facts = Mapping[Key, str]
Advice = Callable[[str, str, State], str]
"""(surface, what, state) -> what to do."""


@dataclass(frozen=True)
class Line:
    """`unknown`: it could not be read, which is not the same as being right (rule 30). `open`: this installation cannot keep it, for all parts are one OS user (S12)."""

    area: Area
    surface: str
    what: str
    expected: str
    got: str
    state: State
    hint: str = ""

    @property
    def is_right(self) -> bool:
        return self.state == "expected"

    @property
    def differs(self) -> bool:
        return self.state not in ("expected", "open")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(area: Area, expected: Facts, got: Facts, advice: Advice) -> list[Line]:
    """A line for every key of either side."""
    return [
        _line(area, key, expected.get(key), got.get(key), advice)
        for key in sorted({*expected, *got}, key=lambda key: (_place(key[0]), key[1]))
    ]


def _line(area: Area, key: Key, expected: str | None, got: str | None, advice: Advice) -> Line:
    state = _state(expected, got)
    hint = "" if state == "expected" else advice(*key, state)
    return Line(area, *key, expected or NOTHING, got or NOTHING, state, hint)


def _state(expected: str | None, got: str | None) -> State:
    if expected == got:
        return "expected"
    if got is None:
        return "missing"
    return "extra" if expected is None else "different"


def unknown(area: Area, surface: str, what: str, why: str) -> Line:
    return Line(area, surface, what, "known", "—", "unknown", why)


def count(lines: Iterable[Line]) -> dict[State, int]:
    found: dict[State, int] = {"expected": 0, "missing": 0, "extra": 0, "different": 0, "unknown": 0, "open": 0}
    for line in lines:
        found[line.state] += 1
    return found


def in_order(lines: Iterable[Line]) -> list[Line]:
    """By surface, then by area."""
    return sorted(lines, key=lambda line: (_place(line.surface), AREAS.index(line.area), line.what))


def _place(surface: str) -> tuple[int, str]:
    return (SURFACES.index(surface) if surface in SURFACES else len(SURFACES), surface)
