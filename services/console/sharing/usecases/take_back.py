"""Staff take back what the agent could read: its text is gone there within a second, and here too."""

from uuid import UUID

from schemas.console.v1 import RecordUnshared
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.sharing import store
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def take_back(tx: Tx, caller: Caller, record_id: UUID) -> None:
    """NotFound when it is not shared now."""
    caller.require("share")
    if await store.held(tx, record_id) is None:
        raise NotFound("That is not shared with the agent now.")
    key, at = f"record:{record_id}", now()
    version = await next_version(tx, key)
    await store.take_back(tx, record_id, at, caller.name, version)
    data = RecordUnshared(record_id=record_id, by=caller.actor(), at=at, version=version)
    tx.stage("record.unshared", data, key=key, version=version, actor=caller.id)
