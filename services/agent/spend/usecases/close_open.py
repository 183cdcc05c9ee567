"""Close calls that nobody will settle: their process died, or they ran into their ten minutes. Each once, by what is known of it (rules 1, 2)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

import structlog
from asyncpg import Record

from schemas.outward import Owner
from services.agent.spend import store
from services.agent.spend.believing import Cost, cost_of
from services.agent.spend.domain import Estimate, Figures, Kind
from services.agent.spend.prices import Prices
from services.agent.spend.rates import Unknown
from services.agent.spend.usecases.tell_usage import tell_usage
from shared.db import Database

log = structlog.get_logger()


@dataclass(frozen=True)
class Known:
    """What somebody else knows of a call. `left`: whether anything was sent. `figures`: as the provider said."""

    left: bool
    figures: Figures | None = None


Knows = Callable[[Owner, UUID | None], Awaitable[Known | None]]
"""By the account and the id that the call has outside; None: nothing is known."""


async def nobody_knows(_: Owner, __: UUID | None) -> Known | None:
    return None


async def close_overdue(db: Database, prices: Prices, knows: Knows, account: Owner) -> int:
    """Close what expired (rule 1); how many calls."""
    async with db.owned(account) as tx:
        rows = await store.overdue(tx, account)
    return await _close(db, prices, knows, account, rows, "expired")


async def close_turn(db: Database, prices: Prices, knows: Knows, account: Owner, turn_id: UUID) -> int:
    """Close what a turn left open when its process died (rule 2); how many calls."""
    async with db.owned(account) as tx:
        rows = await store.open_of_turn(tx, account, turn_id)
    return await _close(db, prices, knows, account, rows, "aborted")


async def _close(db: Database, prices: Prices, knows: Knows, account: Owner, rows: Sequence[Record], kind: Kind) -> int:
    if not rows:
        return 0
    closes: list[store.Close] = []
    for row in rows:
        cost = _cost(prices, row, await knows(account, row["outside_call"]))
        closes.append((row["call_id"], kind, cost.figures, cost.dollars))
    async with db.owned(account) as tx:
        written = await store.settle(tx, account, closes)
        tell_usage(tx, written)
    for row in written:
        log.warning("ledger.abandoned", call=str(row["call_id"]), kind=kind, cost=str(row["cost"]))
    return len(written)


def _cost(prices: Prices, row: Record, known: Known | None) -> Cost:
    """What the provider said, else what was noted; a call of which nothing is known to have left costs what nobody knows, and what certainly never left, nothing."""
    price = prices.of(row["connector"], row["model"]) or Unknown()
    estimate, amount = Estimate(row["most_in"], row["most_out"]), row["amount"]
    if known is not None and not known.left:
        return Cost(Figures(0, 0), Decimal(0))
    if known is not None and known.figures is not None:
        return cost_of(price, estimate, amount, known.figures)
    noted = Figures(row["noted_tokens_in"], row["noted_tokens_out"], row["noted_tokens_cached"], estimated=True)
    if known is None and row["noted_at"] is None and not price.is_free:
        return Cost(replace(noted, estimated=False), None)
    return cost_of(price, estimate, amount, noted)
