"""What a schedule is: once, an interval of elapsed time, wall clock in its owner's zone, or a cron expression.

Plain JSON as `Rule.model_dump(mode="json", exclude_defaults=True)` with `kind`; `RULE.validate_python` reads it back.
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NaiveDatetime, TypeAdapter

SHORTEST, LONGEST = 60, 366 * 24 * 3600
"""Seconds of an interval."""
Weekday = Annotated[int, Field(ge=1, le=7)]
"""Monday is 1."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Once(_Rule):
    """At one wall time in the zone, or at one instant ("in 10 minutes"); just one of both."""

    kind: Literal["once"] = "once"
    wall: NaiveDatetime | None = None
    at: AwareDatetime | None = None


class Interval(_Rule):
    """Every so many seconds of elapsed time after `start`, which itself is no occurrence."""

    kind: Literal["interval"] = "interval"
    seconds: Annotated[int, Field(ge=SHORTEST, le=LONGEST)]
    start: AwareDatetime


class Wall(_Rule):
    """Days of a calendar, at times of the wall clock.

    `every` counts units of `unit` from `start` on: 2 and `week` is every other week, of the week of `start`.
    day: every day. week: on `weekdays`. month: on `days` (1 to 31; -1 is the last), or on the `nth` (1 to 5, -1 the last) of the month's days that are
    one of `weekdays`: -1 of Monday to Friday is the last working day. year: in `month`, on `days` or `nth` of `weekdays`. What is left out is as in `start`.
    A missing 29th to 31st is the month's last day (rule 7).
    """

    kind: Literal["wall"] = "wall"
    unit: Literal["day", "week", "month", "year"]
    times: Annotated[tuple[time, ...], Field(min_length=1, max_length=24)]
    every: Annotated[int, Field(ge=1, le=1000)] = 1
    start: date
    weekdays: tuple[Weekday, ...] = ()
    days: tuple[Annotated[int, Field(ge=-1, le=31)], ...] = ()
    nth: Annotated[int, Field(ge=-1, le=5)] | None = None
    month: Annotated[int, Field(ge=1, le=12)] | None = None
    until: date | None = None


class Cron(_Rule):
    """Five fields, as cron has them; `@daily` and the like are written out."""

    kind: Literal["cron"] = "cron"
    expression: Annotated[str, Field(min_length=9, max_length=200)]


Rule = Annotated[Once | Interval | Wall | Cron, Field(discriminator="kind")]
RULE: TypeAdapter[Once | Interval | Wall | Cron] = TypeAdapter(Rule)
Kind = Literal["once", "interval", "wall", "cron"]


@dataclass(frozen=True)
class Occurrence:
    """One time of a schedule. `at`: the instant, UTC, by which it is known: a schedule has no two at one instant. `note`: how it differs from what was asked
    for ("02:30 does not exist on that day; it runs at 03:00"), else empty."""

    at: datetime
    note: str = ""


@dataclass(frozen=True)
class Understood:
    """What was understood: `rule` in `zone`; `words` spells it out in the language of the request; `notes` say what may surprise (rules 6, 7, 7a)."""

    rule: Once | Interval | Wall | Cron
    zone: str
    words: str
    notes: tuple[str, ...] = ()
