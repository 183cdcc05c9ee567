"""Switches in force and the changes that were asked for, in console_db."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.tables import switch_changes, switches
from shared.db import Tx


async def in_force(tx: Tx) -> dict[str, RowMapping]:
    """By name; a switch that was never set has no row."""
    return {row["name"]: row for row in await tx.rows(select(switches))}


async def version_of(tx: Tx, name: str) -> int:
    """The lock's version of the switch as known here; 0 when it was never set."""
    found = await tx.value(select(switches.c.version).where(switches.c.name == name))
    return int(found or 0)


async def put(tx: Tx, row: dict[str, Any]) -> None:
    fresh = insert(switches).values(row)
    changed = {name: fresh.excluded[name] for name in row if name != "name"}
    await tx.execute(
        fresh.on_conflict_do_update(
            index_elements=["name"], set_=changed, where=switches.c.version < fresh.excluded.version
        )
    )


async def add_change(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(switch_changes).values(row))


async def settle_change(tx: Tx, statement_hash: str, outcome: str, reason: str | None) -> None:
    mine = (switch_changes.c.statement_hash == statement_hash) & (switch_changes.c.outcome == "sent")
    await tx.execute(update(switch_changes).where(mine).values(outcome=outcome, outcome_reason=reason))


async def settle_applied(tx: Tx, name: str, value: str) -> None:
    """The oldest change to this value that waits is the one that came into force."""
    oldest = (
        select(switch_changes.c.statement_hash)
        .where(switch_changes.c.name == name, switch_changes.c.value == value, switch_changes.c.outcome == "sent")
        .order_by(switch_changes.c.at)
        .limit(1)
        .scalar_subquery()
    )
    await tx.execute(update(switch_changes).where(switch_changes.c.statement_hash == oldest).values(outcome="applied"))


async def changes(tx: Tx, limit: int) -> Sequence[RowMapping]:
    return await tx.rows(select(switch_changes).order_by(switch_changes.c.at.desc()).limit(limit))
