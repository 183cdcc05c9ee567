"""Cards and decisions on them, in console_db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.cards.tables import card_decisions, card_states, cards
from shared.db import Tx

MOST = 200
_newest = (
    select(card_decisions)
    .where(card_decisions.c.card_id == cards.c.card_id)
    .order_by(card_decisions.c.at.desc())
    .limit(1)
    .lateral("newest")
)
_ALL: Select[Any] = (
    select(
        cards,
        card_states.c.state,
        card_states.c.at.label("settled_at"),
        *(_newest.c[name] for name in ("verdict", "by_name", "reason", "at", "outcome", "outcome_reason")),
    )
    .outerjoin(card_states, card_states.c.card_id == cards.c.card_id)
    .outerjoin(_newest, true())
)


async def add(tx: Tx, row: dict[str, Any]) -> bool:
    """False when it was there already."""
    made = insert(cards).values(row).on_conflict_do_nothing().returning(cards.c.card_id)
    return await tx.value(made) is not None


async def one(tx: Tx, card_id: UUID, *, lock: bool = False) -> RowMapping | None:
    """card, state (None: not settled), settled_at, and the newest decision; `lock` keeps others from deciding meanwhile."""
    if lock:
        await tx.row(select(cards.c.card_id).where(cards.c.card_id == card_id).with_for_update())
    return await tx.row(_ALL.where(cards.c.card_id == card_id))


async def waiting(tx: Tx, present: datetime) -> Sequence[RowMapping]:
    """Those that nobody has decided in time, the oldest first."""
    open_ones = _ALL.where(card_states.c.state.is_(None), cards.c.expires_at > present)
    return await tx.rows(open_ones.order_by(cards.c.requested_at).limit(MOST))


async def settled(tx: Tx, present: datetime) -> Sequence[RowMapping]:
    """The others, the newest first."""
    done = _ALL.where(card_states.c.state.is_not(None) | (cards.c.expires_at <= present))
    return await tx.rows(done.order_by(cards.c.requested_at.desc()).limit(MOST))


async def allowed(tx: Tx, connector: str) -> Sequence[RowMapping]:
    """What was granted of one connector and not taken back."""
    mine = _ALL.where(cards.c.connector == connector, card_states.c.state == "allowed")
    return await tx.rows(mine.order_by(cards.c.asker, cards.c.requested_at))


async def count_waiting(tx: Tx, present: datetime) -> int:
    open_ones = (
        select(func.count())
        .select_from(cards.outerjoin(card_states, card_states.c.card_id == cards.c.card_id))
        .where(card_states.c.state.is_(None), cards.c.expires_at > present)
    )
    return int(await tx.value(open_ones))


async def put_state(tx: Tx, row: dict[str, Any]) -> None:
    """The connectors' newest word; an older one changes nothing. It may come before the card itself."""
    fresh = insert(card_states).values(row)
    changed = {name: fresh.excluded[name] for name in row if name != "card_id"}
    newer = card_states.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["card_id"], set_=changed, where=newer))


async def add_decision(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(card_decisions).values(row))


async def settle_decision(tx: Tx, statement_hash: str, outcome: str, reason: str | None = None) -> UUID | None:
    """The card, when a decision with that statement waited for an answer."""
    mine = (card_decisions.c.statement_hash == statement_hash) & (card_decisions.c.outcome == "sent")
    done = update(card_decisions).where(mine).values(outcome=outcome, outcome_reason=reason)
    found: UUID | None = await tx.value(done.returning(card_decisions.c.card_id))
    return found


async def decision(tx: Tx, statement_hash: str) -> RowMapping | None:
    return await tx.row(select(card_decisions).where(card_decisions.c.statement_hash == statement_hash))


async def decisions(tx: Tx, card_id: UUID) -> Sequence[RowMapping]:
    """On one card, in their order."""
    of = select(card_decisions).where(card_decisions.c.card_id == card_id)
    return await tx.rows(of.order_by(card_decisions.c.at))
