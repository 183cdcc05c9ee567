"""Keep what visitors did, row by row, in the transaction that counts it: both agree whatever happens."""

from collections.abc import Sequence
from typing import Any

from schemas.site.v1 import Signal
from services.console.analytics import store
from services.console.analytics.domain import within
from shared.db import Tx


async def record_interactions(tx: Tx, signals: Sequence[Signal]) -> None:
    """One load. What a visitor wrote is not in it."""
    if signals:
        await store.add_load(tx, [_row(signal) for signal in signals])


def _row(signal: Signal) -> tuple[Any, ...]:
    return (
        within(signal.at),
        signal.kind,
        signal.item_id,
        _language(signal),
        signal.path,
        signal.referrer,
        signal.link_id,
        signal.visitor,
        signal.value,
    )


def _language(signal: Signal) -> str:
    """Of an item its address tells: /kind/language/path."""
    parts = signal.path.split("/", 3)
    return parts[2] if signal.item_id is not None and len(parts) > 2 and not parts[0] else ""
