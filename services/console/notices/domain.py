"""Who is told what, in which words. Pure; nobody is told what they did themselves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from schemas.bridge.v1 import ItemMoved

KEPT = timedelta(days=30)
SHOWN = 200
"""Notices on the page; older ones are there until they are pruned, but nobody scrolls so far."""
Kind = Literal["revision", "submission", "schedule", "taken_back", "parked", "secret", "card", "audit"]
PEOPLE_COME_BY = ("console", "api")
TELLING = {"approved": "approved", "rejected": "rejected", "changes_requested": "asked for changes to"}


@dataclass(frozen=True)
class Notice:
    """For one person. `text` is a sentence; `place` is where the page leads."""

    person_id: str
    kind: Kind
    text: str
    place: str
    item_id: UUID | None = None


def place_of(item_id: UUID) -> str:
    return f"/queue/{item_id}"


def person_of(row: Mapping[Any, Any] | None) -> str | None:
    """Whoever is behind a row, if that is somebody who can sign in."""
    return str(row["by_id"]) if row is not None and row["by_via"] in PEOPLE_COME_BY else None


def about_move(
    moved: ItemMoved, title: str, revision: Mapping[Any, Any] | None, decision: Mapping[Any, Any] | None
) -> list[Notice]:
    """`revision`: the one that moved, `decision`: the newest verdict on it; both with by_id and by_via."""
    author, decider = person_of(revision), person_of(decision)
    by_lock = moved.by.via == "service"
    because = f": {moved.reason}" if moved.reason else ""
    what = f"“{title}”"
    match moved.state:
        case "approved" | "rejected" | "changes_requested" if not by_lock:
            found = _tell([author], "submission", moved, f"{moved.by.name} {TELLING[moved.state]} {what}{because}")
            return [each for each in found if each.person_id != moved.by.id]
        case "rejected":
            return _tell([author, decider], "schedule", moved, f"{what} could not be published{because}")
        case "published" if decision is not None and decision["publish_at"] and decision["publish_at"] <= moved.at:
            return _tell([author, decider], "schedule", moved, f"{what} was published as scheduled")
        case "withdrawn" if by_lock:
            return _tell([author, decider], "schedule", moved, f"{what} is no longer public{because}")
        case "withdrawn" | "submitted":
            told = _taken_back(moved, what, because, decider, author if author != decider else None)
            return [each for each in told if each.person_id != moved.by.id]
    return []


def _taken_back(moved: ItemMoved, what: str, because: str, decider: str | None, author: str | None) -> list[Notice]:
    """An author who was told of the verdict must not go on believing it."""
    undone = moved.state == "submitted"
    his = "undid your decision on" if undone else "withdrew"
    theirs = f"undid the decision on {what}; it waits again" if undone else f"withdrew {what}"
    return [
        *_tell([decider], "taken_back", moved, f"{moved.by.name} {his} {what}{because}"),
        *_tell([author], "taken_back", moved, f"{moved.by.name} {theirs}{because}"),
    ]


def _tell(people: Iterable[str | None], kind: Kind, moved: ItemMoved, text: str) -> list[Notice]:
    place = place_of(moved.item_id)
    return [Notice(each, kind, text[:1000], place, moved.item_id) for each in dict.fromkeys(people) if each]
