"""Rules of share links. Pure; the lock has the last word on every one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from services.console.people.domain import check_name
from shared.errors import Refused

LONGEST = timedelta(days=365)
SHORTEST = timedelta(seconds=1)
USUAL = timedelta(days=7)
State = Literal["opening", "open", "expired", "closing", "closed", "ended", "refused"]
"""ended: the item was withdrawn after it was opened."""


@dataclass(frozen=True)
class ShareLink:
    """One link as staff see it. `views`: counted so far."""

    link_id: UUID
    item_id: UUID
    label: str
    state: State
    expires_at: datetime
    opened_at: datetime
    opened_by: str
    closed_at: datetime | None
    closed_by: str | None
    refusal: str
    views: int

    @property
    def can_be_closed(self) -> bool:
        return self.state in ("opening", "open")


def check_label(label: str) -> str:
    try:
        return check_name(label)
    except Refused:
        raise Refused("Say in 1 to 100 visible characters for whom this link is.", code="label") from None


def check_end(expires_at: datetime, at: datetime) -> datetime:
    if not at + SHORTEST <= expires_at <= at + LONGEST:
        raise Refused("A share link ends in the future, within 365 days.", code="expires")
    return expires_at


def check_item(item: Mapping[Any, Any]) -> None:
    """Refused unless the item is published, and for links."""
    if item["published_revision"] is None:
        raise Refused("Nothing of this item is published. A share link opens what was approved.", code="not_published")
    if item["published_audience"] != "link":
        raise Refused(
            f"The item is published for {item['published_audience']}. A share link opens only what was approved with the audience link.",
            code="audience",
        )


def read_link(row: Mapping[Any, Any], at: datetime) -> ShareLink:
    """`row`: of share_links, with `views` and `ended` beside it."""
    names = ("link_id", "item_id", "label", "expires_at", "opened_at", "opened_by", "closed_at", "closed_by", "refusal", "views")  # fmt: skip
    return ShareLink(**{name: row[name] for name in names}, state=_state(row, at))


def _state(row: Mapping[Any, Any], at: datetime) -> State:
    if row["open_outcome"] != "applied":
        return "refused" if row["open_outcome"] == "refused" else "opening"
    if row["close_outcome"] in ("sent", "applied"):
        return "closed" if row["close_outcome"] == "applied" else "closing"
    if row["ended"]:
        return "ended"
    return "open" if at < row["expires_at"] else "expired"
