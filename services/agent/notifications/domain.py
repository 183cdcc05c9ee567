"""Notifications of people; guests have toasts only, while they are here (rule 22). No framework."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

LONGEST_TITLE, LONGEST_TEXT = 200, 4000
KEPT_UNREAD = 500
"""Of one owner: the oldest read ones go first, then nothing more is stored but a count."""


@dataclass(frozen=True)
class Notification:
    """`due_at`: when it was to come, which may be long before `at`. `link`: a path of the workspace, or empty."""

    notification_id: UUID
    title: str
    text: str
    at: datetime
    due_at: datetime
    task_id: UUID | None = None
    link: str = ""
    read_at: datetime | None = None
