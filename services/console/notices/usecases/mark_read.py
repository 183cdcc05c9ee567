"""A person saw a notice, or all of them."""

from uuid import UUID

from services.console.notices import store
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx


async def mark_read(tx: Tx, caller: Caller, notice: UUID | None = None) -> None:
    """Only one's own (rule 24)."""
    await store.read(tx, caller.id, now(), notice)
