"""The ledger's statements. The owner stands in each of them, and row security under all of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from asyncpg import Record

from schemas.outward import Owner
from services.agent.spend.domain import Call, Estimate, Figures, Kind
from shared.db import Tx

_RESERVE = "SELECT * FROM core.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
_SETTLE = "SELECT * FROM core.settle($1, $2, $3, $4, $5, $6, $7, $8, $9)"
_NOTE = """
UPDATE core.reservations r SET noted_at = clock_timestamp(), noted_tokens_in = coalesce(n.tokens_in, noted_tokens_in),
  noted_tokens_out = coalesce(n.tokens_out, noted_tokens_out), noted_tokens_cached = coalesce(n.tokens_cached, noted_tokens_cached),
  outside_call = coalesce(n.outside_call, r.outside_call)
FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[]) AS n (call_id, tokens_in, tokens_out, tokens_cached, outside_call)
WHERE r.owner_kind = $1 AND r.owner_id = $2 AND r.call_id = n.call_id"""
_SPENDING = "SELECT spent, unknown, reserved FROM core.spending($1, $2, clock_timestamp() - interval '24 hours')"
_FREES = "SELECT frees_at, frees FROM core.spending_frees($1, $2, clock_timestamp() - interval '24 hours', $3::numeric)"
_OPEN = """
SELECT call_id, turn_id, connector, model, surface, app, purpose, at, expires_at, amount, most_in, most_out, noted_at,
  noted_tokens_in, noted_tokens_out, noted_tokens_cached, outside_call
FROM core.reservations WHERE owner_kind = $1 AND owner_id = $2"""
_OVERDUE = f"{_OPEN} AND expires_at <= clock_timestamp() ORDER BY call_id"
_OF_TURN = f"{_OPEN} AND turn_id = $3 ORDER BY call_id"
_COST_OF_TURN = """
SELECT coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unknown
FROM core.usage_ledger WHERE owner_kind = $1 AND owner_id = $2 AND turn_id = $3"""
_SPENDER = """
INSERT INTO app.spenders AS s (owner_kind, owner_id, at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (owner_kind, owner_id) DO UPDATE SET at = excluded.at WHERE s.at < excluded.at - interval '5 seconds'"""
_SPENDERS = "SELECT owner_kind, owner_id, at FROM app.spenders ORDER BY at LIMIT 10000"
_LET_GO = """
DELETE FROM app.spenders WHERE owner_kind = $1 AND owner_id = $2 AND at = $3
AND NOT EXISTS (SELECT FROM core.reservations WHERE owner_kind = $1 AND owner_id = $2)"""


async def reserve(
    tx: Tx, account: Owner, cap: Decimal | None, life: timedelta, asked: Sequence[tuple[Call, Decimal, Estimate]]
) -> Sequence[Record]:
    """A row per call in that order: verdict (taken, full, known), spent, reserved, unknown, overdue, at, expires_at."""
    calls = [call for call, _, _ in asked]
    facts: list[list[Any]] = [
        [getattr(call, name) for call in calls]
        for name in ("call_id", "turn_id", "connector", "model", "surface", "app", "purpose")
    ]
    most = [[each.tokens_in for _, _, each in asked], [each.tokens_out for _, _, each in asked]]
    amounts = [amount for _, amount, _ in asked]
    rows = await tx.raw.fetch(_RESERVE, account.kind, account.id, cap, life, *facts, amounts, *most)
    await tx.raw.execute(_SPENDER, account.kind, account.id)
    return rows


Close = tuple[UUID, Kind, Figures, Decimal | None]
"""A call, how it ended, what it used and what that cost."""


async def settle(tx: Tx, account: Owner, closes: Sequence[Close]) -> Sequence[Record]:
    """The rows that were written, as core.usage_ledger has them; a call that was settled before has none."""
    columns = [
        (call_id, kind, used.tokens_in, used.tokens_out, used.tokens_cached, cost, used.estimated)
        for call_id, kind, used, cost in closes
    ]
    return await tx.raw.fetch(_SETTLE, account.kind, account.id, *(list(each) for each in zip(*columns, strict=True)))


async def note(tx: Tx, account: Owner, notes: Sequence[tuple[UUID, Figures, UUID | None]]) -> None:
    rows = [(call_id, used.tokens_in, used.tokens_out, used.tokens_cached, outside) for call_id, used, outside in notes]
    await tx.raw.execute(_NOTE, account.kind, account.id, *(list(each) for each in zip(*rows, strict=True)))


async def spending(tx: Tx, account: Owner) -> Record:
    """spent, unknown, reserved of the last 24 hours."""
    found = await tx.raw.fetchrow(_SPENDING, account.kind, account.id)
    assert found is not None
    return found


async def frees(tx: Tx, account: Owner, need: Decimal) -> tuple[datetime | None, Decimal]:
    """When that much has fallen out of the window, and how much it is then."""
    found = await tx.raw.fetchrow(_FREES, account.kind, account.id, need)
    return (None, Decimal(0)) if found is None else (found["frees_at"], found["frees"])


async def overdue(tx: Tx, account: Owner) -> Sequence[Record]:
    return await tx.raw.fetch(_OVERDUE, account.kind, account.id)


async def open_of_turn(tx: Tx, account: Owner, turn_id: UUID) -> Sequence[Record]:
    return await tx.raw.fetch(_OF_TURN, account.kind, account.id, turn_id)


async def cost_of_turn(tx: Tx, account: Owner, turn_id: UUID) -> tuple[Decimal, int]:
    """Its known cost, and how many calls of it have none."""
    found = await tx.raw.fetchrow(_COST_OF_TURN, account.kind, account.id, turn_id)
    assert found is not None
    return found["cost"], found["unknown"]


async def spenders(tx: Tx) -> list[tuple[Owner, datetime]]:
    """Whoever may have an open reservation."""
    return [(Owner(kind=row[0], id=row[1]), row[2]) for row in await tx.raw.fetch(_SPENDERS)]


async def let_go(tx: Tx, account: Owner, at: datetime) -> None:
    """Nothing of theirs is open, and nothing was reserved since."""
    await tx.raw.execute(_LET_GO, account.kind, account.id, at)
