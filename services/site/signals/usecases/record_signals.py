"""Make a micro-batch of signals durable, with the event that tells of it."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from schemas.site.v1 import Signal
from services.site.signals import store
from services.site.signals.domain import MAX_PER_EVENT, packed
from services.site.signals.store import ByAudience
from shared.db import Tx
from shared.ids import new_id


async def record_signals(tx: Tx, taken: Sequence[tuple[Signal, str]]) -> dict[UUID, ByAudience]:
    """Store signals and votes and stage `signals.recorded`; the new tallies of each item that was voted on.

    Each signal comes with the audience of its item.
    """
    signals = [signal for signal, _ in taken]
    await store.add(tx, signals)
    stage_signals(tx, (each.model_dump_json().encode() for each in signals))
    votes = {
        (each.item_id, each.visitor): (each.value, audience)
        for each, audience in taken
        if each.kind == "vote" and each.item_id
    }
    if not votes:
        return {}
    await store.vote(tx, votes)
    items = {item_id for item_id, _ in votes}
    nothing: ByAudience = {}
    return dict.fromkeys(items, nothing) | await store.tallies(tx, items)


def stage_signals(tx: Tx, signals: Iterable[bytes], per_event: int = MAX_PER_EVENT) -> None:
    """One event for each group of signals (JSON objects that are valid Signals)."""
    for group in packed(signals, per_event):
        batch = new_id()
        data = b'{"batch_id":"%s","signals":[%s]}' % (str(batch).encode(), b",".join(group))
        tx.stage_json("signals.recorded", data, key=str(batch), version=1)
