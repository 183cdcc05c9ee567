"""A task and its runs as plain JSON: for tools and for the API. Pure."""

from datetime import datetime
from typing import Any

from services.agent.tasks.domain import Run, Task
from shared.schedules import telling

LONGEST_DERIVED = 80
"""Characters of a title that is taken from the text."""


def title_of(text: str) -> str:
    """The text's first line, cut at a word."""
    first = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "Reminder")
    if len(first) <= LONGEST_DERIVED:
        return first
    return f"{first[:LONGEST_DERIVED].rpartition(' ')[0] or first[:LONGEST_DERIVED]}…"


def utc(at: datetime | None) -> str | None:
    """`YYYY-MM-DDTHH:MM:SSZ`."""
    return None if at is None else telling.utc(at)


def local(zone: str, at: datetime | None) -> str:
    """`2027-03-28T03:00:00+02:00`, on the wall clock of that zone."""
    return "" if at is None else telling.line(at, zone).local


def told_task(task: Task) -> dict[str, Any]:
    fields = ("kind", "title", "text", "zone", "state", "notify", "misfire", "overlap", "reason")
    told: dict[str, Any] = {"task_id": str(task.task_id)} | {name: getattr(task, name) for name in fields}
    times = {"next_at": utc(task.next_at), "next_local": local(task.zone, task.next_at)}
    return (
        told | times | {"when": task.words, "window_hours": task.window_s // 3600, "from_outside": bool(task.sources)}
    )


def told_run(task: Task, run: Run) -> dict[str, Any]:
    """`due_at`: the nominal time; `at`: when it ran, or when it was decided that it would not."""
    fields = ("state", "reason", "note", "output", "error")
    told: dict[str, Any] = {"task_id": str(task.task_id), "title": task.title}
    times = {"due_at": utc(run.nominal_at), "due_local": local(task.zone, run.nominal_at), "at": utc(run.at), "ended_at": utc(run.ended_at)}  # fmt: skip
    return told | times | {name: getattr(run, name) for name in fields}
