"""The connectors' newest fingerprints of their secrets arrive: kept for the inspection, if the present key made them (S14)."""

from schemas.connectors.v1 import FingerprintsTaken
from schemas.text import canonical
from services.bridge.inspection import store
from services.bridge.inspection.known import Shelf, believes
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx


async def keep_fingerprints(tx: Tx, event: Received[FingerprintsTaken], shelf: Shelf) -> None:
    """One part of a set. What another start's key made, or nobody's, is not kept."""
    step, taken = Step(tx, event), event.data
    if not believes(taken, shelf.key()):
        await step.done("refused", reason="it was not made with the installation's present fingerprint key")
        return
    body = canonical(taken.model_dump(mode="json"))
    await store.keep_fingerprints(tx, taken.version, taken.part, taken.parts, body)
    await step.done()
