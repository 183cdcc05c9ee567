"""The figures of a period. What could not be had is None and shown as unavailable, never as 0 (rule 30)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from services.console.people.domain import Caller
from shared.errors import Forbidden, Refused

PERIODS = (1, 7, 30, 90, 365)


@dataclass(frozen=True)
class Day:
    """Decisions of one day, UTC, by verdict; `undone` of them were taken back."""

    day: date
    approve: int
    reject: int
    request_changes: int
    undone: int

    @property
    def all(self) -> int:
        return self.approve + self.reject + self.request_changes


@dataclass(frozen=True)
class Total:
    """Of one person, or of everybody. Times in seconds from queued to decided; None where nothing tells them."""

    person_id: str | None
    name: str
    approve: int
    reject: int
    request_changes: int
    undone: int
    median: float | None
    p90: float | None

    @property
    def all(self) -> int:
        return self.approve + self.reject + self.request_changes


@dataclass(frozen=True)
class Statistics:
    """`days` has every day of the period, oldest first. `oldest`: since when the longest waiting item waits."""

    since: datetime
    days: Sequence[Day]
    total: Total
    people: Sequence[Total]
    waiting: int
    oldest: datetime | None


def check_period(days: int) -> int:
    if days not in PERIODS:
        raise Refused(f"A period has {', '.join(map(str, PERIODS))} days; not {days}.", code="period")
    return days


def check_whose(caller: Caller, *, everybody: bool) -> str | None:
    """Whose figures to read: one's own, or everybody's (None), which owners and admins may see."""
    caller.require("read")
    if not everybody:
        return caller.id
    if not caller.may("switch"):
        raise Forbidden(f"A {caller.role} sees their own figures; everybody's are for owners and admins.")
    return None
