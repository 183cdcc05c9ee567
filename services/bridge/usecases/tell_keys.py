"""Connectors and agent are told of every key entry of the gate's log: of those too that were made before they read them."""

from services.bridge import store, views
from services.bridge.usecases.answer_gate_request import sealed_of
from services.bridge.usecases.append_entry import INSIDERS, tell_insider
from services.bridge.usecases.record_crossings import Step
from shared.db import Tx


async def tell_keys(tx: Tx) -> int:
    """How many times somebody was told. At start, under the gate's lock: once in the life of an installation, in the log's order."""
    await store.lock_gate(tx)
    step, told = Step(tx), 0
    for insider in INSIDERS:
        for row in await views.untold_keys(tx, insider):
            tell_insider(step, sealed_of(row), insider)
            told += 1
    await step.done()
    return told
