"""The bar: five groups of pages; the pages of the one that is open stand in a second line.

A page that has no route (yet) is not shown, so that the list can be read as the plan of the console. To add a page is to add one line.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from services.console.people.domain import Need


@dataclass(frozen=True)
class Place:
    """One page of the bar. `go`: the key after `g`. `also`: what else belongs to it; `count`: which figure stands beside it."""

    href: str
    word: str
    need: Need = "read"
    go: str = ""
    also: tuple[str, ...] = ()
    count: str = ""
    unless: Need | None = None
    """Left out for those who may that: they have another page for it."""

    def holds(self, path: str) -> bool:
        return any(path == each or path.startswith(f"{each}/") for each in (self.href, *self.also))


@dataclass(frozen=True)
class Section:
    word: str
    places: tuple[Place, ...]


SECTIONS = (
    Section(
        "Review",
        (
            Place("/queue", "Queue", go="q", count="waiting"),
            Place("/cards", "Cards", "connectors", go="c", also=("/actions", "/automations"), count="cards"),
            Place("/actions", "Cards", go="c", also=("/automations",), count="cards", unless="connectors"),
            Place("/submit", "Submit", "submit", go="n"),
            Place("/proposals", "Proposals", go="p"),
        ),
    ),
    Section(
        "Work",
        (
            Place("/apps", "Apps", go="w", also=("/applications", "/reports", "/records")),
            Place("/answers", "Forms", go="r"),
            Place("/mappings", "Mappings", go="m"),
            Place("/jobs", "Jobs", go="j"),
            Place("/leaks", "Leak guard", go="l"),
        ),
    ),
    Section(
        "Figures",
        (
            Place("/analytics", "Analytics", go="f"),
            Place("/statistics", "Statistics", go="t"),
            Place("/spend", "Spend", go="e"),
        ),
    ),
    Section(
        "Settings",
        (
            Place("/switches", "Switches", go="s"),
            Place("/sharing", "Sharing", "share", go="d"),
            Place("/connectors", "Connectors", "connectors", go="o"),
            Place("/secrets", "Secrets", "connectors", go="x"),
            Place("/people", "People", "people", go="u"),
            Place("/guests", "Guests", "guests", go="b"),
            Place("/links", "Share links", "decide", go="i"),
        ),
    ),
    Section(
        "Watch",
        (
            Place("/audit", "Audit", go="a", count="rejected"),
            Place("/parked", "Parked", go="k"),
            Place("/provenance", "Provenance", go="v"),
            Place("/health", "Health", go="h"),
            Place("/system", "System", "system", go="y"),
        ),
    ),
)


class Sections:
    """What this console has of them."""

    def __init__(self, routes: Iterable[Any]) -> None:
        self._paths = frozenset(getattr(route, "path", "") for route in routes)

    def shown(self, may: Callable[[Need], bool]) -> list[Section]:
        """For somebody who may that; a section without pages is left out."""
        mine = [Section(each.word, tuple(one for one in each.places if self._is_for(one, may))) for each in SECTIONS]
        return [each for each in mine if each.places]

    def _is_for(self, place: Place, may: Callable[[Need], bool]) -> bool:
        is_other = place.unless is not None and may(place.unless)
        return place.href in self._paths and may(place.need) and not is_other

    @staticmethod
    def open_one(sections: list[Section], path: str) -> Section | None:
        """The section that the page belongs to; None for pages outside all of them."""
        return next((each for each in sections if any(place.holds(path) for place in each.places)), None)
