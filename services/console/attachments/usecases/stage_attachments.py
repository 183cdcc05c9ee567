"""The bytes of a submission's attachments go to the lock, each an event of its own (rule 5)."""

from uuid import UUID

from schemas.console.v1 import AttachmentSubmitted
from shared.attaching import Prepared
from shared.db import Tx


def stage_attachments(tx: Tx, submission_id: UUID, item_id: UUID, attached: Prepared) -> None:
    for hash_, raw in attached.data.items():
        data = AttachmentSubmitted(submission_id=submission_id, item_id=item_id, hash=hash_, data=raw)
        tx.stage("attachment.submitted", data, key=f"attachment:{submission_id}:{hash_}", version=1, about=str(item_id))
