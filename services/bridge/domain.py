"""An item's life at the lock, and whether a person's decision on it counts. Pure: no database, no bus, no clock.

    submitted -> approved | rejected | changes_requested -> (scheduled) -> published -> superseded | withdrawn

`Item.state` is the state of its newest revision. The published and the scheduled revision may be older ones: an edit waits
while the approved text stays public. Every change of any of them is one step of `version`, and one Move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.model import ItemState, Verdict
from schemas.statements import Decision, Opening, SwitchSetting

MovedBy = Literal["approve", "reject", "request_changes", "withdraw"]
Code = Literal["conflict", "bad_signature", "four_eyes", "frozen", "unknown_item", "blocked", "revoked_key", "invalid"]
PEOPLE_COME_BY = ("console", "api", "operator")
OPERATOR = "operator"
SWITCH_VALUES: dict[str, tuple[str, ...]] = {
    "publication_mode": ("review", "frozen"),
    "four_eyes": ("off", "on"),
    "site_mode": ("off", "open"),
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
    """The present state of an item. `version` 0 with `revision` 0 is an item that nobody has submitted yet."""

    item_id: UUID
    state: ItemState = "submitted"
    revision: int = 0
    published: int | None = None
    scheduled: int | None = None
    version: int = 0
    publish_at: datetime | None = None


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
    return replace(item, state=state, revision=item.revision + 1, version=version + 1), tuple(moves)


def is_unchanged(item: Item, newest: Revision | None, content_hash: str, audience: str) -> bool:
    """Whether a submission repeats the newest revision. What a person turned down or took back may be handed in again."""
    if newest is None or (newest.content_hash, newest.audience) != (content_hash, audience):
        return False
    return newest.blocked or item.state in ("submitted", "approved", "scheduled", "published")


def decide(item: Item, verdict: Verdict, publish_at: datetime | None = None) -> tuple[Item, tuple[Move, ...]]:
    """Apply a decision on the newest revision, which is `submitted`. `publish_at`: the time, when it lies ahead."""
    version = item.version + 1
    if verdict != "approve":
        state: ItemState = "rejected" if verdict == "reject" else "changes_requested"
        return replace(item, state=state, version=version), (Move(item.revision, state, version, verdict),)
    approved = Move(item.revision, "approved", version, "approve")
    item = replace(item, state="approved", version=version)
    item, rest = publish(item, item.revision) if publish_at is None else schedule(item, publish_at)
    return item, (approved, *rest)


def schedule(item: Item, publish_at: datetime) -> tuple[Item, tuple[Move, ...]]:
    """Keep the newest, approved revision for later; an older one that waited for its time is superseded."""
    item, moves = _step(item, item.scheduled, "superseded")
    item = replace(item, state="scheduled", scheduled=item.revision, publish_at=publish_at, version=item.version + 1)
    return item, (*moves, Move(item.revision, "scheduled", item.version, "approve"))


def publish(item: Item, revision: int) -> tuple[Item, tuple[Move, ...]]:
    """Put an approved revision in the open; what was public before, and what else waited for its time, is superseded."""
    item, old = _step(item, item.published, "superseded")
    item, waiting = _step(item, item.scheduled if item.scheduled != revision else None, "superseded")
    state: ItemState = "published" if revision == item.revision else item.state
    item = replace(item, state=state, published=revision, scheduled=None, publish_at=None, version=item.version + 1)
    return item, (*old, *waiting, Move(revision, "published", item.version, "approve"))


def withdraw(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """Take back what is public and what waits for its time. A revision that still waits for a decision goes on waiting."""
    gone = {item.published, item.scheduled}
    item, public = _step(item, item.published, "withdrawn", "withdraw")
    item, waiting = _step(item, item.scheduled, "withdrawn", "withdraw")
    state: ItemState = "withdrawn" if item.revision in gone else item.state
    return replace(item, state=state, published=None, scheduled=None, publish_at=None), (*public, *waiting)


def turn_down(item: Item) -> tuple[Item, tuple[Move, ...]]:
    """A scheduled revision can no longer be published (its decision's key was revoked): it needs a new decision."""
    revision = item.scheduled
    item, moves = _step(item, revision, "rejected")
    state: ItemState = "rejected" if revision == item.revision else item.state
    return replace(item, state=state, scheduled=None, publish_at=None), moves


def _step(
    item: Item, revision: int | None, state: ItemState, verdict: MovedBy | None = None
) -> tuple[Item, tuple[Move, ...]]:
    if revision is None:
        return item, ()
    return replace(item, version=item.version + 1), (Move(revision, state, item.version + 1, verdict),)


def judge_opening(decider: str, opening: Opening) -> Refusal | None:
    """The person inside must be the one the signed statement commits to, and must be a person (an agent never decides)."""
    if opening.commitment != decider:
        return Refusal("bad_signature", "the person named is not the one the signed statement commits to")
    if opening.via not in PEOPLE_COME_BY:
        return Refusal("invalid", f"a decision cannot come by way of {opening.via!r}; a person decides in the console")
    return None


def judge_decision(
    decision: Decision, opening: Opening, item: Item | None, revision: Revision | None, switches: dict[str, str]
) -> Refusal | None:
    """Whether a verified Decision counts now. `revision` is the item's newest one."""
    if item is None or revision is None:
        return Refusal("unknown_item", "the lock knows no such item")
    if decision.revision != item.revision:
        return Refusal("conflict", f"revision {decision.revision} is not the newest; revision {item.revision} is")
    for name in ("kind", "lang", "path", "audience", "content_hash"):
        if getattr(decision, name) != getattr(revision, name):
            return Refusal(
                "invalid", f"the decision names another {name.replace('_', ' ')} than revision {decision.revision} has"
            )
    if decision.attachments:
        return Refusal("invalid", "the revision has no attachments")
    if decision.prior_version != item.version or item.state != "submitted":
        return Refusal(
            "conflict", f"revision {item.revision} is {item.state.replace('_', ' ')}; the decision came too late"
        )
    return _judge_approval(opening, revision, switches) if decision.verdict == "approve" else None


def _judge_approval(opening: Opening, revision: Revision, switches: dict[str, str]) -> Refusal | None:
    if revision.blocked:
        return Refusal("blocked", "the lock stopped this revision; it cannot be approved")
    if switches["publication_mode"] == "frozen":
        return Refusal("frozen", "publication is frozen; nothing can be approved until the switch is back on review")
    if switches["four_eyes"] == "on" and opening.via == OPERATOR:
        return Refusal("four_eyes", "four eyes is on, and the operator is never a second pair of eyes")
    if switches["four_eyes"] == "on" and opening.person_id == revision.submitted_by:
        return Refusal("four_eyes", "four eyes is on: who submitted a revision may not approve it")
    return None


def judge_withdrawal(prior_version: int, item: Item | None) -> Refusal | None:
    """Whether a verified Withdrawal counts now. Withdrawing works while publication is frozen."""
    if item is None:
        return Refusal("unknown_item", "the lock knows no such item")
    if prior_version != item.version:
        return Refusal("conflict", f"the item has moved on: revision {item.revision} is {item.state.replace('_', ' ')}")
    if item.published is None and item.scheduled is None:
        return Refusal(
            "conflict", f"nothing of this item is public; revision {item.revision} is {item.state.replace('_', ' ')}"
        )
    return None


def judge_setting(setting: SwitchSetting, version: int) -> Refusal | None:
    """Whether a verified SwitchSetting counts now; `version` counts the settings of this switch so far."""
    if setting.value not in SWITCH_VALUES[setting.name]:
        known = ", ".join(SWITCH_VALUES[setting.name])
        return Refusal("invalid", f"{setting.name} can be: {known}; not {setting.value!r}")
    if setting.prior_version != version:
        return Refusal("conflict", f"{setting.name} was set by somebody else in the meantime")
    return None
