"""The lock says that a revision changed state."""

from typing import Any
from uuid import UUID

from schemas.bridge.v1 import ItemMoved
from services.console.queue import store
from shared.db import Tx
from shared.errors import Transient


async def record_moved(tx: Tx, event_id: UUID, moved: ItemMoved) -> None:
    """Applies in any order: each fact has the item's version, and an older one never overwrites a newer."""
    if not await store.is_known(tx, moved.item_id):
        raise Transient("the item's queue entry has not arrived yet")
    by = {"by_id": moved.by.id, "by_name": moved.by.name, "by_via": moved.by.via}
    row = moved.model_dump(exclude={"by"})
    await store.add_history(tx, {**row, **by, "event_id": event_id})
    await store.move_revision(tx, moved.item_id, moved.revision, moved.state, moved.version)
    fields = _fields(moved)
    if moved.state == "scheduled":
        fields["publish_at"] = await store.publish_time(tx, moved.statement_hash)
    await store.move_item(tx, moved.item_id, moved.version, fields, moved.revision)
    if moved.statement_hash:
        await store.settle_decision(tx, moved.statement_hash, "applied", None, moved.at)


def _fields(moved: ItemMoved) -> dict[str, Any]:
    """What changes on the item. A revision that was replaced says nothing about the item as a whole."""
    if moved.state == "superseded":
        return {}
    fields: dict[str, Any] = {"state": moved.state}
    if moved.verdict and moved.by.via != "service":
        fields |= {"decided_by": moved.by.id, "decided_name": moved.by.name, "decided_at": moved.at}
    if moved.state == "scheduled":
        fields["scheduled_revision"] = moved.revision
    if moved.state == "published":
        fields |= {"published_revision": moved.revision, "published_at": moved.at, "gate_seq": moved.gate_seq}
    if moved.state == "withdrawn":
        fields |= {"published_revision": None, "gate_seq": moved.gate_seq}
    if moved.state in ("published", "withdrawn") or _was_turned_down(moved):
        fields |= {"scheduled_revision": None, "publish_at": None}
    return fields


def _was_turned_down(moved: ItemMoved) -> bool:
    """The lock itself rejects only what was scheduled: the key of its approval was revoked meanwhile."""
    return moved.state == "rejected" and moved.by.via == "service"
