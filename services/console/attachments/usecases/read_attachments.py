"""What belongs to the revision that is decided on: a decision names the hashes in the content's order (S1, rule 10)."""

from uuid import UUID

from services.console.attachments import store
from services.console.attachments.domain import hashes_in
from shared.db import Tx
from shared.errors import Conflict


async def read_attachments(tx: Tx, item_id: UUID, content: bytes | None, *, needed: bool) -> tuple[str, ...]:
    """Conflict when `needed` ones have not come here yet: nobody approves what no reviewer could look at."""
    hashes = hashes_in(content or b"")
    if needed and hashes:
        missing = len(set(hashes) - await store.held(tx, item_id, hashes))
        if missing:
            raise Conflict(
                f"{missing} of its attachments are still on the way from the lock. Nothing was changed.",
                code="attachments",
            )
    return hashes
