"""A connector was asked whether the other side answers: kept, and told when that is news."""

from datetime import datetime

from schemas.connectors.v1 import ConnectorChecked
from services.connectors.health import store
from shared.db import Tx


async def record_check(tx: Tx, name: str, reason: str, at: datetime) -> bool:
    """`reason`: empty when it answers. Whether it was news. The row was claimed before."""
    before = await store.held(tx, name)
    if before is None:
        return False
    ok, news = not reason, (before["ok"], before["reason"]) != (not reason, reason)
    version = before["version"] + news
    await store.put(tx, name, ok, reason, version, at)
    if news:
        fact = ConnectorChecked(name=name, ok=ok, reason=reason, at=at, version=version)
        tx.stage("connector.checked", fact, key=f"health:{name}", version=version, about=f"connector:{name}")
    return news
