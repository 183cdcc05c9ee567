"""The connectors are told of every key entry of the gate's log: of those too that were made before they read them."""

from services.bridge import store, views
from services.bridge.usecases.answer_gate_request import sealed_of
from services.bridge.usecases.append_entry import tell_connectors
from services.bridge.usecases.record_crossings import Step
from shared.db import Tx


async def tell_keys(tx: Tx) -> int:
    """How many were told. At start, under the gate's lock: once in the life of an installation, in the log's order."""
    await store.lock_gate(tx)
    step, rows = Step(tx), await views.untold_keys(tx)
    for row in rows:
        tell_connectors(step, sealed_of(row))
    await step.done()
    return len(rows)
