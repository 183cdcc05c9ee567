"""The site found a row without a valid receipt. Nobody saw it; somebody must look."""

from uuid import UUID

from schemas.site.v1 import RowRejected
from services.console.audit import store
from services.console.people.domain import Caller
from shared.db import Tx


async def record_rejection(tx: Tx, event_id: UUID, rejected: RowRejected) -> None:
    await store.add_rejected_row(tx, {**rejected.model_dump(), "event_id": event_id})


async def acknowledge_rejection(tx: Tx, caller: Caller, event_id: UUID) -> None:
    caller.require("decide")
    await store.mark_seen(tx, event_id, caller.name)
