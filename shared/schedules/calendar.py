"""The occurrences of a schedule, with clock changes and month ends (rules 6, 7).

A time of the wall clock is the first instant at which the clock shows it or has passed it: that gives the first of two, and the end of a gap. Several times in one
gap are one occurrence. Elapsed time (intervals, "in 10 minutes", cron expressions that leave the hour open) knows no clock changes.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from shared.schedules import cron
from shared.schedules.days import days_from
from shared.schedules.domain import Cron, Interval, Occurrence, Once, Wall
from shared.schedules.instants import EARLIEST, LATEST, instant, shown
from shared.schedules.sentences import Language, of_clock, of_short_month
from shared.schedules.zones import zone_of

Asked = tuple[datetime, int]
"""A wall time, and the day of the month that was asked for where the month has none such, else 0."""


def occurrences(
    rule: Once | Interval | Wall | Cron, zone: str, after: datetime, *, language: Language = "en"
) -> Iterator[Occurrence]:
    """Strictly after that instant, increasing, no two at one instant; finite or endless (up to the year 9000).

    Each step takes well under a millisecond; a rule without occurrences ends within 100 ms. Raises UnknownZone, BadCron; ValueError for a time without a zone.
    """
    if after.tzinfo is None:
        raise ValueError("a time without a zone says no instant")
    after = min(max(after.astimezone(UTC), EARLIEST), LATEST)
    place = zone_of(zone)
    if isinstance(rule, Interval):
        found = _every(rule, after)
    elif isinstance(rule, Once) and rule.at is not None:
        found = iter([Occurrence(rule.at.astimezone(UTC))])
    elif isinstance(rule, Cron) and cron.leaves_hour_open(rule.expression):
        found = (Occurrence(at) for at in cron.elapsed(rule.expression, place, after))
    else:
        found = _on_the_wall(_asked(rule, shown(place, after)), place, language)
    return _strictly_after(found, after)


def next_after(
    rule: Once | Interval | Wall | Cron, zone: str, after: datetime, *, language: Language = "en"
) -> Occurrence | None:
    """None: nothing comes any more."""
    return next(occurrences(rule, zone, after, language=language), None)


def _strictly_after(found: Iterator[Occurrence], after: datetime) -> Iterator[Occurrence]:
    last = after
    try:
        for each in found:
            if each.at >= LATEST:
                return
            if each.at > last:
                last = each.at
                yield each
    except OverflowError:
        # there are no dates beyond those of the calendar
        return


def _every(rule: Interval, after: datetime) -> Iterator[Occurrence]:
    step = timedelta(seconds=rule.seconds)
    number = max((after - rule.start) // step, 0) + 1
    while True:
        yield Occurrence((rule.start + number * step).astimezone(UTC))
        number += 1


def _asked(rule: Once | Wall | Cron, after: datetime) -> Iterator[Asked]:
    """Wall times that can be later than that one, increasing: what is later for the clock is never earlier in time (see instants)."""
    if isinstance(rule, Once):
        return iter([] if rule.wall is None else [(rule.wall, 0)])
    if isinstance(rule, Cron):
        return ((wall, 0) for wall in cron.walls(rule.expression, after))
    return _of_days(rule, after)


def _of_days(rule: Wall, after: datetime) -> Iterator[Asked]:
    times: list[time] = sorted(set(rule.times))
    for day, asked in days_from(rule, after.date()):
        for at in times:
            wall = datetime.combine(day, at)
            if wall >= after:
                yield wall, asked


def _on_the_wall(asked: Iterator[Asked], zone: ZoneInfo, language: Language) -> Iterator[Occurrence]:
    for wall, day in asked:
        at, shift = instant(zone, wall)
        if not shift and not day:
            yield Occurrence(at)
            continue
        notes = [of_short_month(day, wall.date(), language)] if day else []
        notes += [of_clock(shift, wall, shown(zone, at), language)] if shift else []
        yield Occurrence(at, "; ".join(notes))
