"""What somebody asked for, checked and in the words of tasks: the same for tools, API and pages. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.text import text_fault
from services.agent.notifications.domain import LONGEST_TEXT, LONGEST_TITLE
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Task, Wanted
from services.agent.tasks.scheduling import moved, read_schedule
from services.agent.tasks.telling import title_of
from shared.errors import Refused, TooLarge

HOUR = 3600
MOST_HOURS = 31 * 24
"""For which a missed time may be caught up."""


def reminder(
    me: Me,
    at: datetime,
    given: Mapping[str, Any],
    *,
    sources: tuple[str, ...] = (),
    conversation_id: UUID | None = None,
) -> Wanted:
    """`given`: when, text, and maybe title, zone, notify, misfire, window_hours. Refused for a schedule that is not understood; TooLarge."""
    text, title = given["text"].strip(), given.get("title", "").strip()
    if not text:
        raise Refused("Say what you want to be reminded of; the text is empty.", code="empty")
    _fits(text, title)
    when = read_schedule(given["when"], given.get("zone") or me.zone, at)
    kept = {name: given[name] for name in ("notify", "misfire") if name in given} | _window(given)
    return Wanted(
        "reminder", title or title_of(text), text, when, sources=sources, conversation_id=conversation_id, **kept
    )


def changes(task: Task, at: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """What `Tasks.change` takes. What is empty or missing stays; `zone` alone keeps the wall times (SC-04). Refused when nothing is left."""
    text, title = (given.get(name) or "" for name in ("text", "title"))
    _fits(text, title)
    kept = {name: given[name] for name in ("notify", "misfire", "overlap") if given.get(name) is not None}
    what: dict[str, Any] = kept | _window(given)
    what |= {name: each.strip() for name, each in (("text", text), ("title", title)) if each.strip()}
    zone = given.get("zone") or task.zone
    if given.get("when"):
        what["when"] = read_schedule(given["when"], zone, at, task)
    elif zone != task.zone:
        what["when"] = moved(task, zone, at)
    what = {name: each for name, each in what.items() if name == "when" or each != getattr(task, name)}
    if not what:
        raise Refused("Nothing was changed: say what is to be different.", code="empty")
    return what


def _window(given: Mapping[str, Any]) -> dict[str, int]:
    hours = given.get("window_hours")
    if hours is None:
        return {}
    if not 1 <= hours <= MOST_HOURS:
        raise Refused(f"A missed time is caught up for 1 to {MOST_HOURS} hours.", code="window")
    return {"window_s": hours * HOUR}


def _fits(text: str, title: str) -> None:
    if fault := text_fault(text) or text_fault(title):
        raise Refused(fault, code="text")
    if len(text) > LONGEST_TEXT:
        raise TooLarge(f"A task's text has at most {LONGEST_TEXT} characters; this one has {len(text)}.")
    if len(title) > LONGEST_TITLE:
        raise TooLarge(f"A task's title has at most {LONGEST_TITLE} characters; this one has {len(title)}.")
