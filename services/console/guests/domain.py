"""Rules of an invitation to the site. No framework."""

from datetime import datetime, timedelta
from typing import Literal

from services.console.people.domain import check_name
from shared.errors import Refused

FEWEST_DAYS, MOST_DAYS = 1, 90
State = Literal["open", "expired", "revoked"]


def check_label(label: str) -> str:
    try:
        return check_name(label)
    except Refused:
        raise Refused("Say in 1 to 100 visible characters whom this is for.", code="label") from None


def check_days(days: int | None) -> timedelta:
    if days is None or not FEWEST_DAYS <= days <= MOST_DAYS:
        raise Refused(f"An invitation is good for {FEWEST_DAYS} to {MOST_DAYS} days.", code="days")
    return timedelta(days=days)


def state_of(until: datetime, revoked_at: datetime | None, at: datetime) -> State:
    if revoked_at is not None:
        return "revoked"
    return "open" if until > at else "expired"
