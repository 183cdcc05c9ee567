"""An item's life at the lock. Pure: no database, no bus, no clock. Whether a decision counts is in judging.py.

    submitted -> approved | rejected | changes_requested -> (scheduled) -> published -> superseded | withdrawn
        ^------------- undone within ten minutes ------------------'

`Item.state` is the state of its newest revision. The published and the scheduled revision may be older ones: an edit waits
while the approved text stays public. Every change of any of them is one step of `version`, and one Move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.content import ItemContent
from schemas.model import ItemState
from schemas.statements import Decision

MovedBy = Literal["approve", "reject", "request_changes", "withdraw"]
Recorded = Literal["approve", "reject", "request_changes", "withdraw", "undo"]
Code = Literal["conflict", "bad_signature", "four_eyes", "frozen", "unknown_item", "blocked", "revoked_key", "invalid"]
SWITCH_VALUES: dict[str, tuple[str, ...]] = {
    "publication_mode": ("review", "frozen"),
    "four_eyes": ("off", "on"),
    "site_mode": ("off", "members", "open"),
}
SWITCH_DEFAULTS = {"publication_mode": "review", "four_eyes": "off"}


@dataclass(frozen=True)
class Refusal:
    """Why a decision, withdrawal or switch changes nothing. `code` is DecisionRefused.code."""

    code: Code
    reason: str


@dataclass(frozen=True)
class Move:
    """One revision entered a state; `version` is the item's version after it."""

    revision: int
    state: ItemState
    version: int
    verdict: MovedBy | None = None


@dataclass(frozen=True)
class Item:
    """The present state of an item. `version` 0 with `revision` 0 is an item that nobody has submitted yet.

    `expire_at`: when what is published is taken down. `decided`: hash of the verdict that led to this very version, if one did.
    `proposed`: whether any of its revisions came from the agent, which then is told of moves.
    """

    item_id: UUID
    state: ItemState = "submitted"
    revision: int = 0
    published: int | None = None
    scheduled: int | None = None
    version: int = 0
    publish_at: datetime | None = None
    expire_at: datetime | None = None
    decided: str | None = None
    proposed: bool = False


@dataclass(frozen=True)
class Revision:
    """What was submitted and can never change: a decision covers exactly this (rule 10)."""

    item_id: UUID
    revision: int
    kind: str
    lang: str
    path: str
    audience: str
    content: bytes = field(repr=False)
    content_hash: str
    submitted_by: str
    blocked: bool

    @property
    def attachments(self) -> tuple[str, ...]:
        """The hashes of what belongs to it, in its order; a decision names just these (S1)."""
        if b'"attachments":[' not in self.content:
            return ()
        return tuple(each.hash for each in ItemContent.from_bytes(self.content).attachments)


def fault_line(errors: Sequence[Mapping[str, Any]]) -> str:
    """Where and why a value does not fit its schema, without the value; safe to store even if a field's name is not."""
    line = "; ".join(f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in errors[:3])
    return line.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:500]


def submit(item: Item, blocked: bool) -> tuple[Item, tuple[Move, ...]]:
    """A new revision arrived. The last Move is the new revision's own; an undecided older one is superseded before it."""
    version = item.version
    moves: list[Move] = []
    if item.revision and item.state == "submitted":
        version += 1
        moves.append(Move(item.revision, "superseded", version))
    state: ItemState = "rejected" if blocked else "submitted"
    moves.append(Move(item.revision + 1, state, version + 1))
    item = replace(item, state=state, revision=item.revision + 1, version=version + 1, decided=None)
    return item, tuple(moves)


def is_unchanged(item: Item, newest: Revision | None, content_hash: str, audience: str) -> bool:
    """Whether a submission repeats the newest revision. What a person turned down or took back may be handed in again."""
    if newest is None or (newest.content_hash, newest.audience) != (content_hash, audience):
        return False
    return newest.blocked or item.state in ("submitted", "approved", "scheduled", "published")


def decide(item: Item, decision: Decision, decided: str, at: datetime) -> tuple[Item, tuple[Move, ...]]:
    """Apply a decision on the newest revision, which is `submitted`, or `scheduled` and approved once more for another time.

    `decided`: the statement's hash. `at`: now; what has a time ahead waits for it.
    """
    version, verdict = item.version + 1, decision.verdict
    if verdict != "approve":
        state: ItemState = "rejected" if verdict == "reject" else "changes_requested"
        item = replace(item, state=state, version=version, decided=decided)
        return item, (Move(item.revision, state, version, verdict),)
    approved = Move(item.revision, "approved", version, "approve")
    item = replace(item, state="approved", version=version)
    if item.scheduled == item.revision:  # approved once more, for another time
        item = replace(item, scheduled=None, publish_at=None)
    if decision.publish_at is not None and decision.publish_at > at:
        item, rest = schedule(item, decision.publish_at)
    else:
        item, rest = publish(item, item.revision, decision.expire_at)
    return replace(item, decided=decided), (approved, *rest)


def schedule(item: Item, publish_at: datetime) -> tuple[Item, tuple[Move, ...]]:
    """Keep the newest, approved revision for later; an older one that waited for its time is superseded."""
    item, moves = _step(item, item.scheduled, "superseded")
    item = replace(item, state="scheduled", scheduled=item.revision, publish_at=publish_at, version=item.version + 1)
    return item, (*moves, Move(item.revision, "scheduled", item.version, "approve"))


def publish(item: Item, revision: int, expire_at: datetime | None = None) -> tuple[Item, tuple[Move, ...]]:
    """Put an approved revision in the open; what was public before, and what else waited for its time, is superseded."""
    item, old = _step(item, item.published, "superseded")
    item, waiting = _step(item, item.scheduled if item.scheduled != revision else None, "superseded")
    item = replace(item, state="published" if revision == item.revision else item.state, version=item.version + 1)
    item = replace(item, published=revision, scheduled=None, publish_at=None, expire_at=expire_at)
    return item, (*old, *waiting, Move(revision, "published", item.version, "approve"))


def withdraw(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """Take back what is public and what waits for its time. A revision that still waits for a decision goes on waiting."""
    gone = {item.published, item.scheduled}
    item, public = _step(item, item.published, "withdrawn", "withdraw")
    item, waiting = _step(item, item.scheduled, "withdrawn", "withdraw")
    state: ItemState = "withdrawn" if item.revision in gone else item.state
    item = replace(item, state=state, published=None, scheduled=None, publish_at=None, expire_at=None, decided=None)
    return item, (*public, *waiting)


def expire(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """The published revision's time is over. What waits for a decision, or for its own time, goes on waiting."""
    revision = item.published
    item, moves = _step(item, revision, "withdrawn")
    state: ItemState = "withdrawn" if revision == item.revision else item.state
    return replace(item, state=state, published=None, expire_at=None, decided=None), moves


def turn_down(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """A scheduled revision can no longer be published (its key was revoked, or its time is over): it needs a new decision."""
    revision = item.scheduled
    item, moves = _step(item, revision, "rejected")
    state: ItemState = "rejected" if revision == item.revision else item.state
    return replace(item, state=state, scheduled=None, publish_at=None, decided=None), moves


def undo(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """Take the verdict on the newest revision back: it waits again. What it had replaced stays replaced."""
    if item.published == item.revision:
        item = replace(item, published=None, expire_at=None)
    if item.scheduled == item.revision:
        item = replace(item, scheduled=None, publish_at=None)
    item = replace(item, state="submitted", version=item.version + 1, decided=None)
    return item, (Move(item.revision, "submitted", item.version),)


def _step(
    item: Item, revision: int | None, state: ItemState, verdict: MovedBy | None = None
) -> tuple[Item, tuple[Move, ...]]:
    if revision is None:
        return item, ()
    return replace(item, version=item.version + 1), (Move(revision, state, item.version + 1, verdict),)
