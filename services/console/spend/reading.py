"""What page, API and command show of spend: the same figures for all three."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.console.agency.domain import DEFAULTS
from services.console.spend.domain import By, Cap, Day, Report, begins
from services.console.spend.views import caps_of, days_of, spend_report
from shared.db import Tx


@dataclass(frozen=True)
class Spend:
    """`caps` are about the last 24 hours whatever the period is."""

    report: Report
    days: Sequence[Day]
    caps: Sequence[Cap]


async def read_spend(tx: Tx, by: By, whose: str | None, days: int, present: datetime) -> Spend:
    since = begins(days, present)
    users, guests = DEFAULTS[("cap", "users")], DEFAULTS[("cap", "guests")]
    return Spend(
        await spend_report(tx, by, whose, since, present),
        await days_of(tx, whose, since, present),
        await caps_of(tx, whose, present, users, guests),
    )
