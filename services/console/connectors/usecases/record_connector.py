"""The connectors' answers: in force, how it is, or refused (by them or by the lock)."""

from schemas.connectors.v1 import ConnectorApplied, ConnectorChecked
from services.console.connectors import store
from shared.db import Tx


async def record_connector(tx: Tx, applied: ConnectorApplied) -> None:
    row = applied.model_dump(include={"name", "kind", "enabled", "settings", "statement_hash", "at", "version"})
    await store.put(tx, {**row, "hosts": list(applied.hosts)})
    await store.settle_change(tx, applied.statement_hash, "applied")


async def record_health(tx: Tx, checked: ConnectorChecked) -> None:
    await store.put_health(tx, checked.model_dump())


async def record_connector_refused(tx: Tx, statement_hash: str, reason: str) -> bool:
    """False when it was not about a connector."""
    return await store.settle_change(tx, statement_hash, "refused", reason) is not None
