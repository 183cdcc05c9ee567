"""All attachments of a submission are there: it is queued like any other, and the console gets the bytes that a reviewer is to see."""

from typing import Any

from schemas.bridge.v1 import AttachmentQueued
from services.bridge.attachments import store
from services.bridge.usecases.inspect_item import Inspected
from services.bridge.usecases.queue_item import queue_item
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx


async def queue_held(tx: Tx, event: Received[Any], files: dict[str, bytes]) -> None:
    """`event.prepared` is what the inspection found in text and `files` (bytes by hash). Nothing when another instance was faster."""
    data, found = event.data, event.prepared
    assert isinstance(found, Inspected)
    if not await store.release(tx, data.submission_id):
        return
    if found.content is not None:
        hashes = list(dict.fromkeys(each.hash for each in found.content.attachments))
        await store.add(tx, data.submission_id, hashes)
        step = Step(tx)
        for hash_ in hashes:
            fact = AttachmentQueued(item_id=data.item_id, hash=hash_, data=files[hash_])
            key = f"attachment:{data.submission_id}:{hash_}"
            step.tell("attachment.queued", fact, key=key, version=1, about=str(data.item_id))
        await step.done()
    await queue_item(tx, event)
    await store.clear(tx, data.submission_id)
