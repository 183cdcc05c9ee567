"""Everything that the page of one item shows, read and worked out."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.engine import RowMapping

from schemas.content import ItemContent
from services.console.attachments.showing import Listed, listed
from services.console.queue import views
from services.console.queue.diff import Diff, compare, whole
from services.console.queue.domain import UNANSWERED, is_on_its_way, milliseconds_live
from shared.clock import now
from shared.db import Database
from shared.errors import NotFound


@dataclass(frozen=True)
class Reading:
    """One revision of an item beside what it would replace. `base` is that other revision, if there is one."""

    item: RowMapping
    revision: RowMapping
    content: ItemContent
    base: RowMapping | None
    base_content: ItemContent | None
    diff: Diff
    too_long: bool
    decisions: list[RowMapping]
    revisions: list[RowMapping]
    history: list[RowMapping]
    about: RowMapping | None = None
    """Of a comment: the item that it is about."""
    files: tuple[Listed, ...] = ()

    @property
    def is_newest(self) -> bool:
        return bool(self.revision["revision"] == self.item["revision"])

    @property
    def is_on_its_way(self) -> bool:
        return is_on_its_way(self.item, now())

    @property
    def seconds_left(self) -> int:
        """Until somebody may decide again although the lock has not answered."""
        sent: datetime = self.item["decided_at"]
        return max(1, int((sent + UNANSWERED - now()).total_seconds()) + 1)

    @property
    def is_decidable(self) -> bool:
        return self.is_newest and self.item["state"] == "submitted" and not self.is_on_its_way

    @property
    def last(self) -> RowMapping | None:
        """The last decision on the revision that is shown."""
        shown = self.revision["revision"]
        return next((row for row in self.decisions if row["revision"] == shown), None)

    @property
    def ended_by_lock(self) -> RowMapping | None:
        """What the lock itself did with the revision that is shown: its time was over, or it could not be published."""
        shown = self.revision["revision"]
        last = next((row for row in self.history if row["revision"] == shown), None)
        ended = last is not None and last["by_via"] == "service" and last["state"] in ("rejected", "withdrawn")
        return last if ended else None

    @property
    def replaced(self) -> int | None:
        """The revision that was public until the one that is shown took its place."""
        went_out = next((row["version"] for row in self.history if row["state"] == "published"), 0)
        gone = [
            row for row in self.history if row["state"] == "superseded" and went_out - 2 <= row["version"] < went_out
        ]
        public = {row["revision"] for row in self.history if row["state"] == "published"}
        return next((row["revision"] for row in gone if row["revision"] in public), None)

    @property
    def live_ms(self) -> float | None:
        """From approval to live, as the site reports it."""
        shown = self.revision["revision"]
        if self.item["live_revision"] != shown:
            return None
        approvals = [row for row in self.decisions if row["revision"] == shown and row["verdict"] == "approve"]
        return milliseconds_live(approvals[0]["at"] if approvals else None, self.item["live_since"])


async def read_item(
    db: Database, item_id: UUID, number: int | None = None, view: str = "side", against: int | None = None
) -> Reading:
    """NotFound when there is no such item or revision. `view`: side, one (the same rows, one column) or source.

    `against` is the revision to compare with, where that is not the live one.
    """
    async with db.reading() as tx:
        item = await views.item(tx, item_id)
        revision = await views.revision(tx, item_id, number or item["revision"]) if item else None
        if item is None or revision is None:
            raise NotFound("There is no such item in the queue.")
        older = against is not None and against < revision["revision"]
        base = await views.revision(tx, item_id, against or 0) if older else await _base(tx, item, revision)
        decisions = list(await views.item_decisions(tx, item_id))
        revisions = list(await views.revision_list(tx, item_id))
        history = list(await views.item_history(tx, item_id))
        files = await listed(tx, item_id, ItemContent.from_bytes(revision["content"]).attachments)
        about = await views.item(tx, item["about"]) if item["about"] else None
    content = ItemContent.from_bytes(revision["content"])
    before = ItemContent.from_bytes(base["content"]) if base else None
    found = await asyncio.to_thread(_difference, before, content, view)
    diff = found or whole(content.body)
    return Reading(
        item, revision, content, base, before, diff, found is None, decisions, revisions, history, about, files
    )


async def _base(tx: Any, item: RowMapping, revision: RowMapping) -> RowMapping | None:
    """What a reader knows: the live revision; without one, the revision before."""
    published, number = item["published_revision"], revision["revision"]
    if published is not None and published != number:
        return await views.revision(tx, item["item_id"], published)
    return await views.revision(tx, item["item_id"], number - 1) if number > 1 else None


def _difference(before: ItemContent | None, content: ItemContent, view: str) -> Diff | None:
    if before is None or view == "source":
        return whole(content.body)
    return compare(before.body, content.body)
