"""Connectors and what people changed of them, in console_db."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.connectors.tables import connector_changes, connector_health, connectors
from shared.db import Tx

_BY = (
    connector_changes.c.by_name,
    connector_changes.c.reason,
    connector_changes.c.at.label("set_at"),
)
_HEALTH = (
    connector_health.c.ok,
    connector_health.c.reason.label("why"),
    connector_health.c.at.label("checked_at"),
)
_ALL = (
    select(connectors, *_BY, *_HEALTH)
    .outerjoin(connector_changes, connector_changes.c.statement_hash == connectors.c.statement_hash)
    .outerjoin(connector_health, connector_health.c.name == connectors.c.name)
)


async def listed(tx: Tx) -> Sequence[RowMapping]:
    """Those in force by name, with who set them so (None after a restore of the connectors alone) and their health (`ok` None: unknown)."""
    return await tx.rows(_ALL.order_by(connectors.c.name))


async def one(tx: Tx, name: str) -> RowMapping | None:
    return await tx.row(_ALL.where(connectors.c.name == name))


async def put(tx: Tx, row: dict[str, Any]) -> None:
    """What is in force; an older word changes nothing."""
    await _newest(tx, connectors, row)


async def put_health(tx: Tx, row: dict[str, Any]) -> None:
    await _newest(tx, connector_health, row)


async def _newest(tx: Tx, table: Any, row: dict[str, Any]) -> None:
    fresh = insert(table).values(row)
    changed = {name: fresh.excluded[name] for name in row if name != "name"}
    newer = table.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["name"], set_=changed, where=newer))


async def add_change(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(connector_changes).values(row))


async def settle_change(tx: Tx, statement_hash: str, outcome: str, reason: str | None = None) -> str | None:
    """The connector's name when a change with that statement waited for an answer."""
    mine = (connector_changes.c.statement_hash == statement_hash) & (connector_changes.c.outcome == "sent")
    settled = update(connector_changes).where(mine).values(outcome=outcome, outcome_reason=reason)
    found: str | None = await tx.value(settled.returning(connector_changes.c.name))
    return found


async def newest_change(tx: Tx, name: str) -> RowMapping | None:
    of = select(connector_changes).where(connector_changes.c.name == name)
    return await tx.row(of.order_by(connector_changes.c.at.desc()).limit(1))


async def changes(tx: Tx, limit: int, name: str | None = None) -> Sequence[RowMapping]:
    """The newest first, of one connector or of all."""
    of = select(connector_changes)
    if name is not None:
        of = of.where(connector_changes.c.name == name)
    return await tx.rows(of.order_by(connector_changes.c.at.desc()).limit(limit))


async def change(tx: Tx, statement_hash: str) -> RowMapping | None:
    return await tx.row(select(connector_changes).where(connector_changes.c.statement_hash == statement_hash))
