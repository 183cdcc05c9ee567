"""The lock has inspected an attachment: its bytes are kept for whoever decides."""

from schemas.bridge.v1 import AttachmentQueued
from schemas.text import sha256
from services.console.attachments import store
from shared.db import Tx
from shared.errors import Permanent


async def keep_attachment(tx: Tx, queued: AttachmentQueued) -> None:
    """Permanent when the bytes are others than the hash says."""
    if sha256(queued.data) != queued.hash:
        raise Permanent("the bytes of an attachment do not have its hash", code="attachment")
    await store.put(tx, queued.item_id, queued.hash, queued.data)
