"""Bytes of what was approved arrive. They count for what a signed decision names their hash, and for nothing else."""

from schemas.bridge.v1 import AttachmentPublished
from schemas.site.v1 import ItemApplied
from schemas.text import sha256
from services.site.attachments import store
from services.site.publication.books import Books
from services.site.publication.chain import BadReceipt
from shared.clock import now
from shared.db import Tx


async def keep_attachment(tx: Tx, books: Books, data: AttachmentPublished) -> None:
    """BadReceipt for other bytes than the hash says. What was waiting for the last of its attachments is shown, and reported as live."""
    if sha256(data.data) != data.hash:
        raise BadReceipt("the bytes of an attachment do not have its hash")
    await store.lock(tx)
    xmin = await store.put(tx, data.hash, data.data)
    for row in await store.completed_by(tx, data.hash):
        applied = ItemApplied(
            item_id=row["item_id"],
            gate_seq=row["seq"],
            effect="live",
            revision=row["revision"],
            content_hash=row["content_hash"],
            applied_at=now(),
        )
        tx.stage("item.applied", applied, key=str(row["item_id"]), version=row["seq"])
    if xmin is not None:
        tx.after_commit(lambda: books.file_came(data.hash, xmin))
