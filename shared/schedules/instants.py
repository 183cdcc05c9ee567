"""Wall time to instants (rule 6): a wall time is the first instant at which the clock shows it, or, where it shows it never, has passed it."""

from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""What is reckoned with; there is nothing outside."""
Shift = Literal["", "gap", "day_gone", "twice"]
"""gap: it does not exist on that day, so the first instant after it counts. day_gone: neither does the day (Samoa, 30 December 2011). twice: it comes twice, and the first counts."""


def instant(zone: ZoneInfo, wall: datetime) -> tuple[datetime, Shift]:
    """In UTC. A later wall time never gives an earlier instant."""
    before, after = _offset(zone, wall, 0), _offset(zone, wall, 1)
    if before == after:
        return (wall - before).replace(tzinfo=UTC), ""
    if before > after:
        return (wall - before).replace(tzinfo=UTC), "twice"
    end = _end_of_gap(zone, wall, wall - after, wall - before)
    return end, "day_gone" if after - before >= timedelta(days=1) else "gap"


def shown(zone: ZoneInfo, at: datetime) -> datetime:
    """What the wall's clock shows."""
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def _offset(zone: ZoneInfo, wall: datetime, fold: int) -> timedelta:
    found = zone.utcoffset(wall.replace(fold=fold))
    assert found is not None
    return found


def _end_of_gap(zone: ZoneInfo, wall: datetime, low: datetime, high: datetime) -> datetime:
    """The first full second at which the clock has passed `wall`: at `low` it has not, at `high` it has. Both UTC, without a zone."""
    low, high = low.replace(microsecond=0), high.replace(microsecond=0)
    while (step := int((high - low).total_seconds())) > 1:
        middle = low + timedelta(seconds=step // 2)
        if shown(zone, middle.replace(tzinfo=UTC)) >= wall:
            high = middle
        else:
            low = middle
    return high.replace(tzinfo=UTC)
