"""Which attachments are there, and which items wait for theirs. Pure; the bytes stay in the database."""

from dataclasses import dataclass
from uuid import UUID

from services.site.publication.domain import Published

PATIENCE = 20.0
"""Seconds until the gate is asked for attachments that have not come."""


@dataclass(frozen=True)
class Waiting:
    """A verified row that is not shown yet. `xmin`: its version. `since`: seconds of a clock that only goes forward."""

    item: Published
    xmin: str
    since: float


class Holdings:
    """`files`: row version by hash. An item is shown only when all that its signed content names is here (rule 5)."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.waiting: dict[UUID, Waiting] = {}

    def has_all(self, item: Published) -> bool:
        return all(each.hash in self.files for each in item.attachments)

    def await_files(self, item: Published, xmin: str, since: float) -> None:
        known = self.waiting.get(item.item_id)
        self.waiting[item.item_id] = Waiting(item, xmin, known.since if known and known.item == item else since)

    def overdue(self, present: float) -> set[UUID]:
        return {item_id for item_id, each in self.waiting.items() if present - each.since > PATIENCE}

    def came(self, hash_: str, xmin: str) -> list[Waiting]:
        """What can be shown since this attachment is here."""
        self.files[hash_] = xmin
        return [each for each in list(self.waiting.values()) if self.has_all(each.item)]
