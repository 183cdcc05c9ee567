"""A task is changed: a new revision, and whatever was queued of the old one is void (rule 9)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.tasks import store
from services.agent.tasks.domain import Task
from services.agent.tasks.rows import when_columns
from services.agent.tasks.usecases.find_task import find_open_task
from shared.db import Tx
from shared.errors import Refused
from shared.schedules.calendar import next_after
from shared.schedules.domain import Understood

CHANGEABLE = frozenset({"title", "text", "notify", "misfire", "window_s", "overlap"})


async def change_task(tx: Tx, owner: Owner, task_id: UUID, what: Mapping[str, Any], at: datetime) -> Task:
    """`what`: `when` (Understood) and CHANGEABLE. Refused for the text of an automation, and when nothing comes any more."""
    task = await find_open_task(tx, owner, task_id)
    if task.kind == "automation" and "text" in what and what["text"] != task.text:
        raise Refused(
            "What an automation does was allowed word for word. Make a new one, which is then decided on.",
            code="allowed",
        )
    columns = {name: value for name, value in what.items() if name in CHANGEABLE}
    if "when" in what:
        columns |= _schedule(task, what["when"], at)
    if not columns:
        return task
    changed = await store.change_task(tx, owner, task_id, columns)
    await store.put_due(tx, owner, changed)
    return changed


def _schedule(task: Task, when: Understood, at: datetime) -> dict[str, Any]:
    first = next_after(when.rule, when.zone, at)
    if first is None:
        raise Refused("That time is over: nothing comes of this schedule. Name a time to come.", code="past")
    return when_columns(when.rule, when.zone, when.words, first if task.state == "active" else None)
