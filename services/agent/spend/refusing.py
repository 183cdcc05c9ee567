"""What is said when a paid call may not begin."""

from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal

from services.agent.spend.bookings import Full
from services.agent.spend.domain import Call, CapReached, Standing, money
from shared.errors import Refused

CENT = Decimal("0.01")


def cap_reached(full: Full, needs: Decimal, frees: tuple[datetime | None, Decimal], standing: Standing) -> CapReached:
    """Names cap, spent, reserved, what this needs, and when enough falls out of the window (rule 1)."""
    enough_at, freed = frees
    running = f" and {dollars(full.reserved)} reserved by running calls" if full.reserved else ""
    said = (
        f"{dollars(full.spent)} of {dollars(full.cap)} spent in 24 hours{running}, this needs {dollars(needs, up=True)}"
    )
    return CapReached(f"{said}. {_way_on(full, needs, enough_at, freed)}", standing, needs, enough_at, full.looked_at)


def _way_on(full: Full, needs: Decimal, enough_at: datetime | None, freed: Decimal) -> str:
    if full.cap == 0:
        return "The cap is 0, so no paid call is made; an owner or admin sets it in the console."
    if needs > full.cap:
        return "That is more than the whole cap; an owner or admin can raise it in the console, or a shorter conversation needs less."
    if enough_at is None:
        return "It frees up when running calls end."
    return f"{dollars(freed)} frees up at {_minute(enough_at):%Y-%m-%d %H:%M} UTC."


def needed(full: Full, needs: Decimal) -> Decimal:
    """How much must fall out of the window before such a call fits, taking what runs now as it was reserved; at the cap, a little more than nothing."""
    return max(full.spent + full.reserved + needs - full.cap, Decimal("1e-18"))


def no_price(call: Call) -> Refused:
    """Rule 3."""
    return Refused(
        f"{call.connector}/{call.model} has no valid price, and a model without one cannot be used under a spend cap;"
        " put its price into prices.toml in the state directory, or choose another model (`schleuse prices MODEL` says what is known)",
        code="price",
    )


def dollars(amount: Decimal, *, up: bool = False) -> str:
    """To the cent where that is exact, else as exactly as it is known; `up` rounds a need up to the cent when it has one."""
    cents = amount.quantize(CENT, ROUND_UP) if up and amount >= CENT else amount
    exact = money(cents)
    return f"${cents.quantize(CENT)}" if cents == cents.quantize(CENT) else f"${exact}"


def _minute(at: datetime) -> datetime:
    """The next whole minute: never promised too early."""
    return at if not (at.second or at.microsecond) else at.replace(second=0, microsecond=0) + timedelta(minutes=1)
