"""The lock says that a revision changed state."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from schemas.bridge.v1 import ItemMoved
from services.console.queue import store
from shared.db import Tx
from shared.errors import Transient

NOTHING_SCHEDULED = {"scheduled_revision": None, "publish_at": None, "scheduled_until": None}
NOTHING_PUBLIC = {"published_revision": None, "expire_at": None}
NOT_LIVE = {"live_revision": None, "live_since": None, "gone_since": None}
"""The site takes down by its own clock what is over, and says nothing; the console does not claim to know when it did."""
NOBODY = {"decided_by": None, "decided_name": None, "decided_at": None}


async def record_moved(tx: Tx, event_id: UUID, moved: ItemMoved) -> None:
    """Applies in any order: each fact has the item's version, and an older one never overwrites a newer."""
    if not await store.is_known(tx, moved.item_id):
        raise Transient("the item's queue entry has not arrived yet")
    by = {"by_id": moved.by.id, "by_name": moved.by.name, "by_via": moved.by.via}
    row = moved.model_dump(exclude={"by"})
    await store.add_history(tx, {**row, **by, "event_id": event_id})
    await store.move_revision(tx, moved.item_id, moved.revision, moved.state, moved.version)
    statement = await store.decision(tx, moved.statement_hash) if moved.statement_hash else None
    undone = await store.decision(tx, statement["undoes"]) if statement and statement["undoes"] else None
    fields = _undone(moved, undone) if moved.state == "submitted" else _fields(moved, statement or {})
    await store.move_item(tx, moved.item_id, moved.version, fields, moved.revision)
    if moved.statement_hash:
        await store.settle_decision(tx, moved.statement_hash, "applied", None, moved.at)
    if undone:
        await store.mark_undone(tx, undone["statement_hash"], moved.by.id, moved.by.name, moved.at)


def _fields(moved: ItemMoved, statement: Mapping[Any, Any]) -> dict[str, Any]:
    """What changes on the item. A revision that was replaced says nothing about the item as a whole."""
    if moved.state == "superseded":
        return {}
    fields: dict[str, Any] = {"state": moved.state}
    fields["verdict_hash"] = moved.statement_hash if moved.verdict != "withdraw" else None
    if moved.verdict and moved.by.via != "service":
        fields |= {"decided_by": moved.by.id, "decided_name": moved.by.name, "decided_at": moved.at}
    match moved.state:
        case "scheduled":
            times = {"publish_at": statement.get("publish_at"), "scheduled_until": statement.get("expire_at")}
            fields |= {"scheduled_revision": moved.revision, **times}
        case "published":
            fields |= {"published_revision": moved.revision, "published_at": moved.at, "gate_seq": moved.gate_seq}
            fields |= {"expire_at": statement.get("expire_at"), **NOTHING_SCHEDULED}
        case "withdrawn":
            gone = NOT_LIVE if is_over(moved) else {"gate_seq": moved.gate_seq, **NOTHING_SCHEDULED}
            fields |= NOTHING_PUBLIC | gone
        case "rejected" if moved.by.via == "service":  # the lock itself turns down only what was scheduled
            fields |= NOTHING_SCHEDULED
    return fields


def is_over(moved: ItemMoved) -> bool:
    """The lock took it down because its time was over; what is scheduled stays so."""
    return moved.state == "withdrawn" and moved.by.via == "service"


def _undone(moved: ItemMoved, undone: Mapping[Any, Any] | None) -> dict[str, Any]:
    """The verdict on the newest revision was taken back. An approval had made it public or scheduled it."""
    fields: dict[str, Any] = {"state": moved.state, "verdict_hash": None, **NOBODY}
    if undone is not None and undone["verdict"] == "approve":
        fields |= NOTHING_SCHEDULED
    if moved.gate_seq is not None:
        fields |= {**NOTHING_PUBLIC, "gate_seq": moved.gate_seq}
    return fields
