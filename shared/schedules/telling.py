"""The next times of a schedule as people and programs read them: in the owner's zone and in UTC."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from shared.schedules.calendar import occurrences
from shared.schedules.domain import Understood
from shared.schedules.sentences import Language
from shared.schedules.zones import zone_of


@dataclass(frozen=True)
class Line:
    """`local`: `2027-03-28T03:00:00+02:00`. `utc`: `2027-03-28T01:00:00Z`. `note`: how it differs from what was asked for, else empty. `at`: the instant."""

    at: datetime
    local: str
    utc: str
    note: str


def next_lines(
    understood: Understood, after: datetime, count: int = 5, *, language: Language = "en"
) -> tuple[Line, ...]:
    """At most `count`, strictly after that instant."""
    found = occurrences(understood.rule, understood.zone, after, language=language)
    return tuple(line(each.at, understood.zone, each.note) for each in islice(found, count))


def line(at: datetime, zone: str, note: str = "") -> Line:
    at = at.astimezone(UTC)
    local = at.astimezone(zone_of(zone))
    return Line(at, local.isoformat(timespec="seconds"), utc(at), note)


def utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
