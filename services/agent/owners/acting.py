"""In whose name, and by which word of a person, this task of the process works. Nothing set: for whoever is there."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from schemas.outward import Owner


@dataclass(frozen=True)
class Acting:
    """An automation's run: bound to its card and to the hash of the instruction that is carried out (S10)."""

    owner: Owner
    card_id: UUID
    instruction_hash: str


acting: ContextVar[Acting | None] = ContextVar("acting", default=None)
"""Set where a run begins, before its turn is handed in: the turn and its tools inherit it."""
