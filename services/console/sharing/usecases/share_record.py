"""Staff let the agent read a record. It gets the text as it is now, and whose words it is."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from schemas.console.v1 import RecordShared
from schemas.content import ItemContent
from services.console.people.domain import Caller
from services.console.queue import views
from services.console.queue.store import next_version
from services.console.sharing import store
from services.console.sharing.domain import MOST_AT_ONCE, Record, check_source, check_text, check_title
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.ids import new_id


async def share_text(tx: Tx, caller: Caller, title: str, text: str, source: str) -> UUID:
    """A text that was typed or pasted; `source`: staff, visitor or outside."""
    record = Record(new_id(), "text", check_title(title), check_text(text), check_source(source))
    await _share(tx, caller, record)
    return record.record_id


async def share_feedback(tx: Tx, caller: Caller, ids: Sequence[UUID]) -> int:
    """How many were not shared before. NotFound when one of them is no feedback."""
    caller.require("share")
    if len(ids) > MOST_AT_ONCE:
        raise Refused(f"At most {MOST_AT_ONCE} messages are shared at once.", code="many")
    fresh = {row["signal_id"]: row for row in await store.open_feedback(tx, ids, len(ids))}
    for signal_id in dict.fromkeys(ids):
        if signal_id in fresh:
            await _share(tx, caller, _feedback(fresh[signal_id]))
        elif await store.held(tx, signal_id) is None:
            raise NotFound("There is no such message.")
    return len(fresh)


async def share_item(tx: Tx, caller: Caller, item_id: UUID) -> UUID:
    """Its newest revision. What the lock blocked is not shared, and what came from the agent itself comes back as an outsider's words, a comment as a visitor's."""
    caller.require("share")
    item = await views.item(tx, item_id)
    revision = None if item is None else await views.revision(tx, item_id, item["revision"])
    if item is None or revision is None:
        raise NotFound("There is no such item.")
    if item["blocks"]:
        raise Refused("The lock blocked this text; it is not given to the agent.", code="blocked")
    content = ItemContent.from_bytes(revision["content"])
    parts = (content.title, content.summary, content.body)
    text = check_text("\n\n".join(part for part in parts if part.strip()))
    place = f"{item['kind']}/{item['lang']}/{item['path']}"
    name = "Comment of a visitor" if content.about else " ".join(content.title.split())[:100]
    title = check_title(f"{name} ({place[:60]}), revision {revision['revision']}")
    source = check_source({"agent": "outside", "visitor": "visitor"}.get(revision["by_via"], "staff"))
    await _share(tx, caller, Record(item_id, "item", title, text, source))
    return item_id


def _feedback(row: Mapping[Any, Any]) -> Record:
    """The title is ours: a visitor's words stand in the text alone."""
    about = f" on “{' '.join(row['title'].split())[:120]}”" if row["title"] else ""
    return Record(
        row["signal_id"], "feedback", f"Feedback of {row['at']:%-d %B %Y}{about}", check_text(row["text"]), "visitor"
    )


async def _share(tx: Tx, caller: Caller, record: Record) -> None:
    """Again with the same text: nothing happens."""
    caller.require("share")
    held = await store.held(tx, record.record_id)
    if held is not None and (held["title"], held["text"], held["source"]) == (record.title, record.text, record.source):
        return
    key, at = f"record:{record.record_id}", now()
    version = await next_version(tx, key)
    fields = vars(record) | {"at": at, "version": version}
    await store.put(tx, fields | {"shared_by": caller.name})
    data = RecordShared(**fields, shared_by=caller.actor())
    tx.stage("record.shared", data, key=key, version=version, actor=caller.id)
