"""The ledger: every call of a model is reserved before it begins and settled once, and no account passes its cap (rules 1 to 3)."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import structlog

from schemas.outward import Owner
from schemas.text import text_fault
from services.agent.spend import store
from services.agent.spend.believing import MOST_TOKENS, cost_of
from services.agent.spend.bookings import Ask, Close, Full, Progress, Taken
from services.agent.spend.domain import Call, Estimate, Figures, Kind, Price, Reservation, Standing
from services.agent.spend.lanes import Lanes
from services.agent.spend.prices import Prices
from services.agent.spend.rates import Unknown
from services.agent.spend.refusing import cap_reached, needed, no_price
from services.agent.spend.sweep import Sweep
from services.agent.spend.usecases.book_account import book_account
from services.agent.spend.usecases.close_open import Knows, close_overdue, close_turn, nobody_knows
from shared.db import Database
from shared.errors import Refused

log = structlog.get_logger()
LIFE = timedelta(minutes=10)


class Caps(Protocol):
    """What of the agent's settings the ledger asks."""

    def cap_of(self, account: Owner) -> Decimal | None: ...


class Ledger:
    """A part of the service: its sweep closes what expired, four times a minute.

    `knows` is asked what became of a call that nobody settled, beside what was noted of it (spend/witness.py).
    """

    def __init__(
        self, db: Database, settings: Caps, prices: Prices, *, life: timedelta = LIFE, knows: Knows = nobody_knows
    ) -> None:
        self._db, self._settings, self._prices, self.knows = db, settings, prices, knows
        self._lanes = Lanes(partial(book_account, db, settings.cap_of, life), self._orphaned)
        self._sweep = Sweep(db, self.expire)
        self.open, self.refused = 0, 0
        """For display: calls of this process that run, and how many a cap has refused since it began."""

    async def start(self) -> None:
        await self._sweep.start()

    async def stop(self) -> None:
        await self._sweep.stop()
        await self._lanes.drained()

    async def price_of(self, connector: str, model: str) -> Price | None:
        return self._prices.of(connector, model)

    async def reserve(self, call: Call, estimate: Estimate) -> Reservation:
        _check(call, estimate)
        price: Price | None = self._prices.of(call.connector, call.model)
        if price is None and self._settings.cap_of(call.account) is not None:
            raise no_price(call)
        price = price or Unknown()
        ask = Ask(call, estimate, price, price.most(estimate))
        found = await self._lanes.submit(call.account, ask)
        if isinstance(found, Full) and found.overdue:
            await self.expire(call.account)
            found = await self._lanes.submit(call.account, ask)
        if isinstance(found, Full):
            raise await self._full(call.account, ask.amount, found)
        assert isinstance(found, Taken)
        self.open += 1
        return Reservation(call, ask.amount, found.at, found.expires_at, price, estimate)

    async def note(self, reservation: Reservation, produced: Figures, outside_call: UUID | None = None) -> None:
        said = cost_of(reservation.price, reservation.estimate, reservation.amount, produced).figures
        await self._lanes.submit(
            reservation.call.account, Progress(reservation.call.call_id, _as_said(produced, said), outside_call)
        )

    async def settle(self, reservation: Reservation, figures: Figures, kind: Kind = "settled") -> Decimal | None:
        cost = cost_of(reservation.price, reservation.estimate, reservation.amount, figures)
        if cost.doubted:
            log.warning("ledger.figures_doubted", call=str(reservation.call.call_id), figures=cost.doubted)
        close = Close(reservation.call.call_id, kind, cost.figures, cost.dollars)
        try:
            found: Decimal | None = await self._lanes.submit(reservation.call.account, close)
        finally:
            self.open -= 1
        return found

    async def standing(self, account: Owner) -> Standing:
        async with self._db.owned(account) as tx:
            found = await store.spending(tx, account)
            frees_at, frees = await store.frees(tx, account, Decimal("1e-18"))
        cap = self._settings.cap_of(account)
        return Standing(cap, found["spent"], found["reserved"], frees_at, frees, int(found["unknown"]))

    async def cost_of_turn(self, account: Owner, turn_id: UUID) -> Decimal | None:
        """What a turn's calls cost so far; None when that of one of them is not known."""
        async with self._db.owned(account) as tx:
            cost, unknown = await store.cost_of_turn(tx, account, turn_id)
        return None if unknown else cost

    async def settle_abandoned(self, account: Owner, turn_id: UUID) -> Decimal | None:
        """The process that ran this turn is dead: its open calls are closed as aborted, once, by what is known of them. The turn's cost."""
        await close_turn(self._db, self._prices, self.knows, account, turn_id)
        return await self.cost_of_turn(account, turn_id)

    async def expire(self, account: Owner) -> int:
        """Close what expired; how many calls."""
        return await close_overdue(self._db, self._prices, self.knows, account)

    async def _full(self, account: Owner, needs: Decimal, full: Full) -> Refused:
        self.refused += 1
        async with self._db.owned(account) as tx:
            frees = await store.frees(tx, account, needed(full, needs))
            first = await store.frees(tx, account, Decimal("1e-18"))
        standing = Standing(full.cap, full.spent, full.reserved, *first, full.unknown)
        return cap_reached(full, needs, frees, standing)

    def _orphaned(self, account: Owner, booking: Any, found: Any) -> None:
        """Whoever asked was cancelled while it was reserved: nothing was sent, and nothing is to wait for its expiry."""
        if isinstance(booking, Ask) and isinstance(found, Taken):
            self._lanes.leave(account, Close(booking.call.call_id, "aborted", Figures(0, 0), Decimal(0)))


def _as_said(produced: Figures, believed: Figures) -> Figures:
    """What is noted: figures that are believed; whether they are estimated is decided when it is closed."""
    return Figures(believed.tokens_in, believed.tokens_out, believed.tokens_cached, produced.estimated)


def _check(call: Call, estimate: Estimate) -> None:
    """What the events and the tables take."""
    texts: Sequence[str] = (call.connector, call.model, call.surface, call.app, call.purpose)
    fault = next((text_fault(each) or len(each) > 500 for each in texts if text_fault(each) or len(each) > 500), None)
    if fault:
        raise Refused("the name of a model, connector or purpose has at most 500 characters, without NUL")
    if not (0 <= estimate.tokens_in <= MOST_TOKENS and 0 <= estimate.tokens_out <= MOST_TOKENS):
        raise Refused(f"a call's tokens are estimated from 0 to {MOST_TOKENS}")
