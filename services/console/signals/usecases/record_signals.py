"""Count micro-batches of signals. All counting is in the transaction that notes the events as handled, so it is exact."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from services.console.analytics.usecases.record_interactions import record_interactions
from services.console.links.usecases.count_views import count_views
from services.console.signals import store
from services.console.signals.domain import Tally, add_up, read_signals
from shared.db import Tx


class BadSignal(NamedTuple):
    """A signal that was not counted: in which batch it came, its JSON, and why."""

    batch: int
    raw: bytes
    reason: str


async def record_signals(tx: Tx, batches: Sequence[list[dict[str, Any]]]) -> list[BadSignal]:
    """Each signal is validated alone; the bad ones come back, and the others count."""
    tally = Tally()
    left: list[BadSignal] = []
    for number, listed in enumerate(batches):
        good, bad = read_signals(listed)
        left += [BadSignal(number, json.dumps(raw).encode(), reason) for raw, reason in bad]
        left += [
            BadSignal(number, json.dumps(each.model_dump(), default=str).encode(), reason)
            for each, reason in add_up(tally, good)
        ]
        await count_views(tx, good)
    await store.add(tx, tally)
    await record_interactions(tx, tally.signals)
    return left
