"""Rows of the ledger, published as they were written."""

from collections.abc import Sequence

from asyncpg import Record

from schemas.agent.v1 import Usage, UsageRecorded
from schemas.outward import Owner
from services.agent.spend.domain import money
from shared.db import Tx

_SAME = (
    "call_id", "turn_id", "at", "settled_at", "kind", "connector", "model", "surface", "app", "purpose",
    "tokens_in", "tokens_out", "tokens_cached", "estimated",
)  # fmt: skip


def tell_usage(tx: Tx, rows: Sequence[Record]) -> None:
    """One event for all that one transaction wrote."""
    if not rows:
        return
    told = tuple(
        Usage(
            owner=Owner(kind=row["owner_kind"], id=row["owner_id"]),
            cost=None if row["cost"] is None else money(row["cost"]),
            **{name: row[name] for name in _SAME},
        )
        for row in rows
    )
    tx.stage("usage.recorded", UsageRecorded(rows=told), key=str(told[0].call_id), version=1)
