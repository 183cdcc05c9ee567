"""What was spent, by whom and for what. Exact decimals; unknown is None and never 0 (rule 30)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal, get_args

from services.console.people.domain import Caller
from shared.errors import Forbidden, Refused

By = Literal["owner", "app", "model", "day", "turn"]
GROUPS: tuple[By, ...] = get_args(By)
PERIODS = (1, 7, 30, 90, 365)
MOST_DAYS = 365
MOST_LINES = 500
GUESTS = "guest:guests"


@dataclass(frozen=True)
class Line:
    """One owner, app, model, day or turn. `cost`: of the calls whose cost is known; `unknown`: how many it is not known of; `estimated`: of how many
    the provider gave no figure. Tokens are None when no call said any. `at`: when its newest call was reserved."""

    key: str
    name: str
    calls: int
    cost: Decimal
    unknown: int
    estimated: int
    tokens_in: int | None
    tokens_out: int | None
    at: datetime | None


@dataclass(frozen=True)
class Report:
    """`lines`: the dearest first; days and turns: the newest first. `more`: there are lines that are not shown; `total` counts them all."""

    by: By
    since: datetime
    until: datetime
    lines: Sequence[Line]
    total: Line
    more: bool


@dataclass(frozen=True)
class Cap:
    """An account's rolling day beside its cap. `cap` None: no limit."""

    key: str
    name: str
    cap: Decimal | None
    spent: Decimal
    unknown: int

    @property
    def left(self) -> Decimal | None:
        return None if self.cap is None else max(Decimal(0), self.cap - self.spent)


@dataclass(frozen=True)
class Day:
    """For the chart."""

    day: date
    cost: Decimal


def check_by(by: str) -> By:
    for known in GROUPS:
        if by == known:
            return known
    raise Refused(f"Spend is told by {', '.join(GROUPS)}; not by {by[:40]!r}.", code="by")


def check_days(days: int | None) -> int:
    if days is None or not 1 <= days <= MOST_DAYS:
        raise Refused(f"A period has 1 to {MOST_DAYS} days.", code="days")
    return days


def begins(days: int, present: datetime) -> datetime:
    """Days of 24 hours before now: one day is exactly what the cap looks at (rule 1)."""
    return present - timedelta(days=days)


def check_whose(caller: Caller, *, everybody: bool) -> str | None:
    """Whose spend to read: one's own, or everybody's (None), which owners and admins may see."""
    caller.require("read")
    if not everybody:
        return caller.id
    if not caller.may("switch"):
        raise Forbidden(f"A {caller.role} sees what was spent for them; everybody's is for owners and admins.")
    return None


def dollars(amount: Decimal | None) -> str:
    """Exactly as the ledger has it, with cents at least; without a limit or a figure it says so."""
    if amount is None:
        return "unavailable"
    text = format(amount, "f")
    whole, _, part = text.partition(".")
    return f"${int(whole):,}.{part.rstrip('0'):0<2}"


def plain(amount: Decimal) -> str:
    """For programs: as events write money."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
