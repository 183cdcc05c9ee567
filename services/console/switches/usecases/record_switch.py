"""The lock's answer to a switch setting."""

from schemas.bridge.v1 import DecisionRefused, SwitchApplied
from services.console.switches import store
from shared.db import Tx


async def record_switch(tx: Tx, applied: SwitchApplied) -> None:
    row = applied.model_dump(include={"name", "value", "reason", "at", "version"})
    await store.put(tx, {**row, "by_name": applied.by.name})
    await store.settle_applied(tx, applied.name, applied.value)


async def record_switch_refused(tx: Tx, refused: DecisionRefused) -> None:
    await store.settle_change(tx, refused.statement_hash, "refused", refused.reason)
