"""Notifications of people; guests have toasts only, while they are here (rule 22). No framework."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from services.agent.conversations.texts import clean

LONGEST_TITLE, LONGEST_TEXT = 200, 4000
KEPT_UNREAD = 500
"""Of one owner: the oldest read ones go first, then nothing more is stored but a count."""
MOST_AT_ONCE = 20
"""Toasts that one look brings to a page; of what is beyond, the count says."""


@dataclass(frozen=True)
class Notification:
    """`due_at`: when it was to come, which may be long before `at`. `link`: a path of the workspace, or empty. `from_outside`: its task was made after
    untrusted text had been read (S11)."""

    notification_id: UUID
    title: str
    text: str
    at: datetime
    due_at: datetime
    task_id: UUID | None = None
    link: str = ""
    read_at: datetime | None = None
    shown_at: datetime | None = None
    from_outside: bool = False


@dataclass(frozen=True)
class News:
    """What an open page has to show. `fresh`: oldest first, each once to a page. `unread`: all that are, so that a toast goes when it was read
    elsewhere. `left_out`: how many found no room."""

    fresh: tuple[Notification, ...]
    unread: frozenset[UUID]
    left_out: int = 0


@dataclass
class Seen:
    """What one page knows. `begun`: it has been told once; what nobody was shown before then is fresh to it."""

    ids: set[UUID] = field(default_factory=set)
    unread: frozenset[UUID] | None = None
    left_out: int = 0

    @property
    def begun(self) -> bool:
        return self.unread is not None


def fresh_ids(seen: Seen, unread: Iterable[tuple[UUID, bool]]) -> list[UUID]:
    """Of those that are unread, oldest first, with whether a page has shown each: what this page shows now. A page that opens shows what none has shown."""
    return [each for each, shown in unread if each not in seen.ids and (seen.begun or not shown)]


def storable(title: str, text: str) -> tuple[str, str]:
    """As it can be kept (rule 19), within its bounds; one line of title."""
    return " ".join(clean(title).split())[:LONGEST_TITLE] or "Notification", clean(text)[:LONGEST_TEXT]
