"""Money, prices, figures of a call, and what a cap says. Exact decimals everywhere; unknown is None and never 0."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol
from uuid import UUID

from schemas.outward import Owner
from shared.errors import Refused

Kind = Literal["settled", "aborted", "expired"]


@dataclass(frozen=True)
class Call:
    """One call of a model. `call_id` is ours, new for each try: the ledger's key. `connector` is empty for the built-in model."""

    call_id: UUID
    turn_id: UUID
    account: Owner
    connector: str
    model: str
    app: str
    purpose: str
    surface: str = "agent"


@dataclass(frozen=True)
class Figures:
    """What a call used, as the provider says (None: it did not say), and whether we counted ourselves."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    estimated: bool = False


@dataclass(frozen=True)
class Estimate:
    """The most that a call can use: tokens of the request (an upper bound) and the most that it may answer."""

    tokens_in: int
    tokens_out: int


class Price(Protocol):
    """Of one model. Free means that it costs nothing whatever it does."""

    @property
    def is_free(self) -> bool: ...
    def most(self, estimate: Estimate) -> Decimal:
        """Dollars that such a call costs at most."""
        ...

    def of(self, figures: Figures) -> Decimal | None:
        """Exact dollars; None when the figures do not say enough."""
        ...


@dataclass(frozen=True)
class Reservation:
    """A call that may begin. Settled once, by whoever holds it; expires after ten minutes (rule 1)."""

    call: Call
    amount: Decimal
    at: datetime
    expires_at: datetime
    price: Price = field(repr=False)
    estimate: Estimate


@dataclass(frozen=True)
class Standing:
    """An account's rolling day. `cap` None: no limit. `frees_at`, `frees`: when something falls out of the window next, and how much.
    `unknown`: calls of that day whose cost nobody knows; they are not in `spent`."""

    cap: Decimal | None
    spent: Decimal
    reserved: Decimal
    frees_at: datetime | None
    frees: Decimal
    unknown: int = 0

    @property
    def left(self) -> Decimal | None:
        return None if self.cap is None else max(Decimal(0), self.cap - self.spent - self.reserved)


class CapReached(Refused):
    """A paid call that does not fit under the cap; for pages that say it in their own words. `standing`: what counted at `looked_at`, by the
    database's clock. `enough_at`: when as much has fallen out of the window as this call needs; None when waiting alone does not help."""

    default_code = "cap"

    def __init__(
        self, message: str, standing: Standing, needs: Decimal, enough_at: datetime | None, looked_at: datetime
    ) -> None:
        super().__init__(message)
        self.standing, self.needs, self.enough_at, self.looked_at = standing, needs, enough_at, looked_at


def money(amount: Decimal) -> str:
    """As events and reports write it: exact, without an exponent, without zeros at the end."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


class Spending(Protocol):
    """The ledger, as the loop sees it."""

    async def price_of(self, connector: str, model: str) -> Price | None:
        """None: unknown. A model without a valid price cannot be used by an owner who has a cap (rule 3)."""
        ...

    async def reserve(self, call: Call, estimate: Estimate) -> Reservation:
        """CapReached (code `cap`) names cap, spent, reserved and when enough falls out; Refused (code `price`) says that there is no valid price."""
        ...

    async def note(self, reservation: Reservation, produced: Figures, outside_call: UUID | None = None) -> None:
        """What was produced so far, for the case that this process dies: once with empty figures as the request leaves, then while it streams, at most a
        few times a second. A call of which nothing was ever noted is taken for one that never left."""
        ...

    async def settle(self, reservation: Reservation, figures: Figures, kind: Kind = "settled") -> Decimal | None:
        """The one ledger row of this call, and its event; what it cost. Figures that cannot be true are not believed. Conflict when it was settled already."""
        ...

    async def standing(self, account: Owner) -> Standing:
        """For display: the cap and all reports read the ledger itself."""
        ...
