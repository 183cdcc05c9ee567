"""What can be undone, by whom and how long. Pure; the lock has the last word, by its own clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from services.console.people.domain import Caller
from services.console.queue.domain import clock, is_on_its_way
from shared.errors import Conflict, Forbidden, Refused

WINDOW = timedelta(minutes=10)
WORDS = {"approve": "approved", "reject": "rejected", "request_changes": "sent back for changes"}


@dataclass(frozen=True)
class Group:
    """What was decided with one word and can still be taken back. `title` and `item_id` are of the only one, if it is one."""

    batch: UUID
    verdict: str
    count: int
    until: datetime
    title: str | None = None
    item_id: UUID | None = None
    publish_at: datetime | None = None

    @property
    def words(self) -> str:
        """`31 items approved`, `“Prices” rejected`."""
        what = f"“{self.title}”" if self.title is not None else f"{self.count} items"
        return f"{what} {'scheduled' if self.publish_at else WORDS[self.verdict]}"


def ends_at(decision: Mapping[Any, Any]) -> datetime | None:
    """Until when a decision can be undone, by the time at which the lock took it; None when it cannot be at all."""
    if decision["verdict"] not in WORDS or decision["outcome"] != "applied" or decision["undone_at"] is not None:
        return None
    taken: datetime = decision["outcome_at"]
    return taken + WINDOW


def may_undo(decision: Mapping[Any, Any], caller: Caller) -> bool:
    """One's own decisions; an owner or admin anybody's."""
    return caller.may("decide") and (decision["by_id"] == caller.id or caller.may("switch"))


def check_undo(item: Mapping[str, Any], decision: Mapping[Any, Any], caller: Caller, present: datetime) -> None:
    """Refused for what can never be undone, Forbidden for another's decision, Conflict when it is too late or something happened since."""
    if decision["verdict"] not in WORDS:
        what = "A withdrawal" if decision["verdict"] == "withdraw" else "An undo"
        raise Refused(f"{what} cannot be undone. Decide on the item again.", code="not_undoable")
    if not may_undo(decision, caller):
        raise Forbidden(f"{decision['by_name']} decided this; only they, an owner or an admin can undo it.")
    if decision["outcome"] == "refused":
        raise Conflict("The lock refused that decision, so there is nothing to undo.", code="lock_refused")
    if decision["undone_at"] is not None:
        raise Conflict(
            f"{decision['undone_name']} undid this at {clock(decision['undone_at'])}. Nothing was changed.",
            code="undone",
        )
    ends = ends_at(decision)
    if ends is None:
        raise Conflict(
            "The lock has not answered this decision yet; it can be undone once it has.", code="not_answered"
        )
    if is_on_its_way(item, present):
        who, when = item["decided_name"] or "Somebody", clock(item["decided_at"])
        raise Conflict(f"{who} was faster at {when}. Nothing was changed.", code="stale")
    if present > ends:
        raise Conflict(
            f"A decision can be undone for 10 minutes; this one took effect at {clock(ends - WINDOW)}."
            " Nothing was changed. What is public or scheduled can be withdrawn.",
            code="too_late",
        )
