"""The gate's log says that a decision key was added or revoked: statements are verified accordingly from now on."""

from schemas.bridge.v1 import KeyRecorded
from services.connectors.book import store
from services.connectors.book.keeper import Keeper
from shared.bus import Received
from shared.db import Tx


async def record_key(tx: Tx, event: Received[KeyRecorded], keeper: Keeper) -> None:
    """BadSignature parks what neither the gate nor a decision key signed. The same entry twice changes nothing."""
    _, keys = await keeper.locked(tx)
    recorded = event.data
    if await store.has_statement(tx, recorded.change.hash):
        return
    change = keys.verify_recorded(recorded)
    await store.add_statement(tx, change.PURPOSE, f"key:{change.subject_key_id}", recorded.change, None)
    keeper.written(tx)
