"""Fingerprints of an internal column arrive: kept for the inspection, if the present key made them and nothing is missing before (S14)."""

from pathlib import Path

from schemas.console.v1 import ColumnFingerprinted
from schemas.text import canonical
from services.bridge.inspection import store
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx
from shared.leaks.key import LeakKey, believes


async def keep_column(tx: Tx, event: Received[ColumnFingerprinted], keys: Path) -> None:
    """What another key made, or nobody's, is not kept; neither is what came before something that is kept. `keys`: the bridge's key folder."""
    step, told = Step(tx, event), event.data
    if not believes(told, LeakKey.load(keys)):
        await step.done("refused", reason="it was not made with the installation's present leak guard key")
        return
    body = canonical(told.model_dump(mode="json"))
    await store.keep_column(tx, told.column_id, told.sequence, told.key_id, told.whole, body)
    await step.done()
