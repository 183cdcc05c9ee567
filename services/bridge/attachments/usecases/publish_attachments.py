"""What was approved goes to the site with its attachments: each an event of its own, believed there for the signed decision that names it."""

from collections.abc import Sequence

from schemas.bridge.v1 import AttachmentPublished
from services.bridge.attachments import store
from services.bridge.gate import Sealed
from services.bridge.usecases.record_crossings import Step


async def publish_attachments(step: Step, sealed: Sealed, hashes: Sequence[str], key: str = "") -> int:
    """`key`: what makes a repeat another event; empty for a new entry. How many bytes were sent."""
    if not hashes:
        return 0
    assert sealed.item_id is not None
    files = await store.read(step.tx, hashes)
    for hash_ in dict.fromkeys(hashes):
        fact = AttachmentPublished(item_id=sealed.item_id, hash=hash_, data=files[hash_])
        name = f"{key or f'attachment:{sealed.item_id}'}:{hash_}"
        about = str(sealed.item_id)
        step.tell("attachment.published", fact, key=name, version=sealed.seq, to="site", about=about)
    return sum(len(each) for each in files.values())
