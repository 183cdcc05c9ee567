"""What a part keeps of an owner. Each part that keeps more than rows of its own tables says so by a Holding."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from schemas.outward import Owner

STAYS: Mapping[str, str] = {
    "turns": "when a turn was and what it cost, without a word of it",
    "usage_ledger": "what calls of models cost, which the cap and all reports are computed from",
    "reservations": "what calls that run now may cost",
    "spend_minutes": "sums of the ledger",
    "action_runs": "that an action was begun, so that it is never begun twice",
    "action_ends": "how an action ended",
    "delegations": "for whom the agent may ask; signed by the console, which takes it back when the person may not any more",
}
"""Owned tables that `forget` leaves, and why. None holds what somebody said, wrote or read."""


class Holding(Protocol):
    """`tables`: owned tables whose rows it exports and deletes itself."""

    @property
    def name(self) -> str: ...
    @property
    def tables(self) -> frozenset[str]: ...
    def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """Files, as path and bytes, one after the other; a long one in pieces under the same path."""
        ...

    async def forget(self, owner: Owner) -> int:
        """Delete it; how many things that were. Again: nothing."""
        ...
