"""Audited calls and rejected rows in console_db."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from services.console.audit.tables import calls
from services.console.tables import rejected_rows
from shared.db import Tx


async def add_calls(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    await tx.execute(insert(calls).values(list(rows)).on_conflict_do_nothing())


async def add_rejected_row(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(rejected_rows).values(row).on_conflict_do_nothing())


async def mark_seen(tx: Tx, event_id: UUID, name: str) -> None:
    await tx.execute(update(rejected_rows).where(rejected_rows.c.event_id == event_id).values(seen_by=name))
