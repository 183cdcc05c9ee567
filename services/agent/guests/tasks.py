"""Reminders of guests: the same words as those of users, in this process's memory, and gone with the visit (rule 22)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.agent.guests.domain import Reminder
from services.agent.guests.visits import Visits
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Run, Task, Wanted
from shared.clock import now
from shared.errors import NotFound, Refused, TooMany
from shared.ids import new_id
from shared.schedules.calendar import next_after

MOST_TASKS, MOST_RUNS = 20, 50
"""Of one visit; of one task, the newest."""
AWAY = "You were not here at that time. A guest is reminded only while a page is open."


class GuestTasks:
    """Implements tasks.domain.Tasks. Everything raises NotFound once the visit is over. `timed` is told of each new time."""

    def __init__(self, visits: Visits) -> None:
        self._visits = visits
        self.timed: Callable[[Me, Task], None] = lambda *_: None

    async def add(self, me: Me, wanted: Wanted) -> Task:
        """Refused for an automation and for what never comes; TooMany above 20."""
        visit = self._visits.of(me)
        if wanted.kind == "automation":
            raise Refused(
                "A guest has no automations: nothing of a guest goes on by itself. Sign in first.", code="guest"
            )
        if sum(held.task.state != "ended" for held in visit.tasks.values()) >= MOST_TASKS:
            raise TooMany(f"A guest has at most {MOST_TASKS} reminders. Delete one, or sign in.", code="tasks")
        at, when = now(), wanted.when
        kept = ("kind", "title", "text", "notify", "misfire", "window_s", "overlap", "sources", "conversation_id")
        fields: dict[str, Any] = {name: getattr(wanted, name) for name in kept}
        task = Task(new_id(), rule=when.rule, zone=when.zone, words=when.words, state="active", created_at=at, next_at=None, **fields)  # fmt: skip
        held = Reminder(_timed(task, at))
        if held.task.next_at is None:
            raise Refused("Nothing comes of this time any more; it is over. Say a later one.", code="past")
        self._drop_oldest(visit.tasks)
        visit.tasks[task.task_id] = held
        return self._told(me, held)

    async def list(self, me: Me, *, ended: bool = False) -> tuple[Task, ...]:
        if not self._visits.is_here(me):
            return ()
        found = [held.task for held in self._visits.of(me).tasks.values() if ended or held.task.state != "ended"]
        return tuple(sorted(found, key=lambda task: (task.next_at is None, task.next_at or task.created_at)))

    async def get(self, me: Me, task_id: UUID) -> Task:
        return self.held(me, task_id).task

    async def change(self, me: Me, task_id: UUID, **what: Any) -> Task:
        held, when = self.held(me, task_id), what.pop("when", None)
        _not_ended(held.task)
        fresh = replace(held.task, revision=held.task.revision + 1, **what)
        if when is not None:
            fresh = _timed(replace(fresh, rule=when.rule, zone=when.zone, words=when.words), now())
            if fresh.next_at is None and fresh.state == "ended":
                raise Refused("Nothing comes of this time any more; nothing was changed.", code="past")
        held.task = fresh
        return self._told(me, held)

    async def pause(self, me: Me, task_id: UUID) -> Task:
        held = self.held(me, task_id)
        _not_ended(held.task)
        held.task = replace(held.task, state="paused", next_at=None, revision=held.task.revision + 1)
        return held.task

    async def resume(self, me: Me, task_id: UUID) -> Task:
        held = self.held(me, task_id)
        _not_ended(held.task)
        if held.task.state == "paused":
            held.task = _timed(replace(held.task, state="active", revision=held.task.revision + 1), now())
        return self._told(me, held)

    async def end(self, me: Me, task_id: UUID, reason: str = "deleted") -> None:
        held = self.held(me, task_id)
        held.task = replace(held.task, state="ended", next_at=None, reason=reason, revision=held.task.revision + 1)

    async def runs(self, me: Me, task_id: UUID, limit: int = 50) -> tuple[Run, ...]:
        return tuple(self.held(me, task_id).runs[:limit])

    async def missed(self, me: Me, limit: int = 50) -> tuple[tuple[Task, Run], ...]:
        if not self._visits.is_here(me):
            return ()
        held = self._visits.of(me).tasks.values()
        found = [(each.task, run) for each in held for run in each.runs if run.state == "missed"]
        return tuple(sorted(found, key=lambda pair: pair[1].nominal_at, reverse=True)[:limit])

    def held(self, me: Me, task_id: UUID) -> Reminder:
        found = self._visits.of(me).tasks.get(task_id)
        if found is None:
            raise NotFound("There is no such task.", code="task")
        return found

    def fire(self, me: Me, task_id: UUID, revision: int, at: datetime, *, here: bool) -> Task | None:
        """Its time has come: what became of it is noted, the next one is told. None when it was changed meanwhile, or nobody is to be told."""
        held = self._visits.of(me).tasks.get(task_id)
        if held is None or held.task.revision != revision or held.task.next_at is None:
            return None
        nominal, fired = held.task.next_at, held.task
        held.runs.insert(0, Run(task_id, nominal, "done" if here else "missed", at, at, "" if here else AWAY))
        del held.runs[MOST_RUNS:]
        held.task = _timed(fired, at)
        self._told(me, held)
        return fired if here and fired.notify else None

    def _told(self, me: Me, held: Reminder) -> Task:
        if held.task.next_at is not None:
            self.timed(me, held.task)
        return held.task

    def _drop_oldest(self, tasks: dict[UUID, Reminder]) -> None:
        """What has ended makes room."""
        over = [task_id for task_id, held in tasks.items() if held.task.state == "ended"]
        for task_id in over[: max(0, len(tasks) - 2 * MOST_TASKS)]:
            del tasks[task_id]


def _timed(task: Task, at: datetime) -> Task:
    """With its next time after that one; ended when there is none."""
    coming = next_after(task.rule, task.zone, at)
    if task.state == "paused":
        return task
    if coming is None:
        return replace(task, next_at=None, state="ended", reason="nothing more comes")
    return replace(task, next_at=coming.at)


def _not_ended(task: Task) -> None:
    if task.state == "ended":
        raise Refused("This task has ended. Make a new one.", code="ended")
