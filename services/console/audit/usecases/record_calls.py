"""The connectors recorded calls to third parties."""

from collections.abc import Sequence

from schemas.connectors.v1 import CallAudited
from services.console.audit import store
from shared.db import Tx


async def record_calls(tx: Tx, audited: Sequence[CallAudited]) -> None:
    await store.add_calls(tx, [each.model_dump() for each in audited])
