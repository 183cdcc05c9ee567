"""An event that could not be handled is a crossing, too: one that was parked."""

from typing import Any

from schemas.catalogue import BY_NAME
from services.bridge.usecases.record_crossings import crossing_of, record_crossings
from shared.bus import Received
from shared.db import Tx


async def record_parked(tx: Tx, event: Received[Any], reason: str) -> None:
    """In the transaction that parks it, one crossing per receiver that it did not reach."""
    declared = BY_NAME[event.name]
    await record_crossings(
        tx, [crossing_of(event, reader, declared.policy, "parked", reason[:500]) for reader in declared.readers]
    )
