"""What is written to the ledger of one account, and what comes of it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from services.agent.spend.domain import Call, Estimate, Figures, Kind, Price


@dataclass(frozen=True)
class Ask:
    """Reserve a call."""

    call: Call
    estimate: Estimate
    price: Price
    amount: Decimal


@dataclass(frozen=True)
class Close:
    """Settle a call."""

    call_id: UUID
    kind: Kind
    figures: Figures
    cost: Decimal | None


@dataclass(frozen=True)
class Progress:
    """Note what a call has produced so far."""

    call_id: UUID
    figures: Figures
    outside_call: UUID | None


@dataclass(frozen=True)
class Taken:
    """A call is reserved."""

    at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class Full:
    """A call does not fit: what counted as it was looked at."""

    cap: Decimal
    spent: Decimal
    reserved: Decimal
    unknown: int
    overdue: bool


Booking = Ask | Close | Progress
