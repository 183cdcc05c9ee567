"""What is written to the ledger of one account, and what comes of it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from services.agent.spend.domain import Call, Estimate, Figures, Kind, Price
from shared.errors import Conflict


class Hurried:
    """Somebody waits and can come again: a database that is away is told at once."""

    patient: ClassVar[bool] = False

    def again(self, found: Any) -> Any:
        return found


@dataclass(frozen=True)
class Ask(Hurried):
    """Reserve a call."""

    call: Call
    estimate: Estimate
    price: Price
    amount: Decimal


@dataclass(frozen=True)
class Close:
    """Settle a call. It has happened, so that it waits for the database."""

    patient: ClassVar[bool] = True
    call_id: UUID
    kind: Kind
    figures: Figures
    cost: Decimal | None

    def again(self, found: Any) -> Any:
        return self.cost if isinstance(found, Conflict) else found


@dataclass(frozen=True)
class Progress(Hurried):
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
    looked_at: datetime


Booking = Ask | Close | Progress
