"""Events of the bridge whose meaning grew: the second versions."""

from uuid import UUID

from schemas.bridge import v1
from schemas.model import Instant


class ItemQueued(v1.ItemQueued):
    """A revision was inspected and waits for review; with where it comes from, and when it left its sender and came to the lock."""

    conversation_id: UUID | None = None
    turn_id: UUID | None = None
    sent_at: Instant | None = None
    crossed_at: Instant | None = None
