"""Notifications as plain JSON: for open pages and for the API. Pure."""

from datetime import datetime
from typing import Any

from services.agent.chat.showing import clock
from services.agent.notifications.domain import News, Notification
from shared.schedules import telling


def told(each: Notification, zone: str, at: datetime) -> dict[str, Any]:
    """`due_at`, `due_local`: when it was to come; `said`: that in short words at that time."""
    fields: dict[str, Any] = {"notification_id": str(each.notification_id), "title": each.title, "text": each.text}
    times = {"at": telling.utc(each.at), "due_at": telling.utc(each.due_at), "due_local": telling.line(each.due_at, zone).local}  # fmt: skip
    task_id = None if each.task_id is None else str(each.task_id)
    said = {"said": clock(each.due_at, zone, at), "read": each.read_at is not None, "from_outside": each.from_outside}
    return fields | times | said | {"task_id": task_id, "link": link_of(each)}


def link_of(each: Notification) -> str:
    """Where it leads: a path of this workspace, or nothing. That of a task, when it names no other."""
    if each.link.startswith("/") and not each.link.startswith(("//", "/\\")):
        return each.link
    return "" if each.task_id is None else f"/tasks/{each.task_id}"


def told_news(news: News, zone: str, at: datetime) -> dict[str, Any]:
    """`unread`: the ids of all that are; a toast of any other goes."""
    fresh = [told(each, zone, at) for each in news.fresh]
    return {"fresh": fresh, "unread": sorted(map(str, news.unread)), "left_out": news.left_out}
