"""Reports with their age, and looking for lines of the inventory. No framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

PAGE = 100
STALE_FIGURES, STALE_INVENTORY = 20.0, 900.0
"""Seconds after which a report says how it was, not how it is."""
STATES = ("expected", "missing", "extra", "different", "unknown", "open")
Line = Mapping[str, str]


@dataclass(frozen=True)
class Report:
    """`content` is None when there is none or it cannot be read, and `why` says so. `age` in seconds."""

    content: Mapping[str, Any] | None
    taken_at: datetime | None
    age: float | None
    why: str = ""

    def is_stale(self, after: float) -> bool:
        """What is not known to be fresh is not."""
        return self.age is None or self.age > after


@dataclass(frozen=True)
class Filter:
    """Empty fields ask for everything. `state`: `differences` is everything that is not as expected."""

    q: str = ""
    area: str = ""
    surface: str = ""
    state: str = ""
    page: int = 1

    def finds(self, line: Line) -> bool:
        if self.area and line["area"] != self.area:
            return False
        if self.surface and line["surface"] != self.surface:
            return False
        if self.state and (line["state"] == "expected" if self.state == "differences" else line["state"] != self.state):
            return False
        wanted = self.q.casefold()
        return not wanted or any(wanted in line[name].casefold() for name in ("what", "got", "expected", "hint"))


@dataclass(frozen=True)
class Found:
    """One page of what a filter finds, differences first."""

    lines: Sequence[Line]
    count: int


def search(lines: Sequence[Line], by: Filter) -> Found:
    found = sorted((line for line in lines if by.finds(line)), key=lambda line: line["state"] == "expected")
    start = (by.page - 1) * PAGE
    return Found(found[start : start + PAGE], len(found))


def choices(lines: Sequence[Line], name: str) -> list[str]:
    """Values that occur, in the order of the inventory."""
    return list(dict.fromkeys(line[name] for line in lines))


def counted(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """For each surface: how many lines there are, and how many differ."""
    return [
        {
            "surface": surface,
            "lines": len(mine),
            "differences": sum(line["state"] not in ("expected", "open") for line in mine),
        }
        for surface in choices(lines, "surface")
        for mine in [[line for line in lines if line["surface"] == surface]]
    ]
