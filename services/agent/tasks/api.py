"""`/api/v1/tasks`: one's tasks and what became of their times, for programs and for pages."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field

from services.agent.chat.api import Api
from services.agent.chat.api_bodies import Body
from services.agent.chat.callers import HEADER
from services.agent.notifications.domain import LONGEST_TEXT, LONGEST_TITLE
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Misfire, Overlap, RunState, Task, TaskKind, Tasks, TaskState
from services.agent.tasks.scheduling import LONGEST_WORDS, coming, schedule_notes
from services.agent.tasks.telling import told_run, told_task
from services.agent.tasks.wanting import MOST_HOURS, changes, reminder
from shared.clock import now

When = Annotated[str, Field(max_length=LONGEST_WORDS, examples=["every Sunday at 7", "in 10 Minuten", "0 7 * * 1-5"])]
Title = Annotated[str, Field(max_length=LONGEST_TITLE)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Hours = Annotated[int, Field(ge=1, le=MOST_HOURS)]


class NewTask(Body):
    """A reminder. `zone`: an IANA name; without it, that of the person."""

    when: When
    text: Text
    title: Title = ""
    zone: str = ""
    notify: bool = True
    misfire: Misfire = "latest"
    window_hours: Hours = 24


class NewTaskState(Body):
    """What is left out stays. `when`: a new schedule, or what is different ("at 8"); `zone` alone keeps the wall times."""

    when: When = ""
    text: Text = ""
    title: Title = ""
    zone: str = ""
    notify: bool | None = None
    misfire: Misfire | None = None
    window_hours: Hours | None = None
    overlap: Overlap | None = None


class TaskTold(BaseModel):
    """`when`: the schedule, spelled out. `from_outside`: it was made after untrusted text had been read (S11)."""

    task_id: UUID
    kind: TaskKind
    title: str
    text: str
    when: str
    zone: str
    state: TaskState
    next_at: datetime | None
    next_local: str
    notify: bool
    misfire: Misfire
    window_hours: int
    overlap: Overlap
    reason: str
    from_outside: bool


class NextTime(BaseModel):
    local: str
    utc: str
    note: str


class TaskWithTimes(TaskTold):
    """With the next five times, and what may surprise about them."""

    next: list[NextTime]
    notes: list[str]


class RunTold(BaseModel):
    """What became of one time. `due_at`: the time; `at`: when it ran, or when it was decided that it would not."""

    task_id: UUID
    title: str
    due_at: datetime
    due_local: str
    at: datetime
    ended_at: datetime | None
    state: RunState
    reason: str
    note: str
    output: str
    error: str


def add_tasks(app: FastAPI, api: Api, tasks: Tasks) -> None:
    one = "/v1/tasks/{task_id}"

    async def changing(request: Request) -> Me:
        return await api.who(request, request.headers.get(HEADER, ""))

    @app.get("/v1/tasks", summary="My tasks, by next time")
    async def listed(request: Request, ended: bool = False) -> list[TaskTold]:
        me = await api.who(request, None)
        return [TaskTold.model_validate(told_task(each)) for each in await tasks.list(me, ended=ended)]

    @app.post("/v1/tasks", status_code=201, summary="Remind me of something")
    async def add(request: Request, new: NewTask) -> TaskWithTimes:
        me = await changing(request)
        return _whole(await tasks.add(me, reminder(me, now(), new.model_dump())))

    @app.get("/v1/tasks/missed", summary="What did not run, or ran late, and why; newest first")
    async def missed(request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[RunTold]:
        found = await tasks.missed(await api.who(request, None), limit)
        return [RunTold.model_validate(told_run(task, run)) for task, run in found]

    @app.get(one, summary="One task with its next times")
    async def get(request: Request, task_id: UUID) -> TaskWithTimes:
        return _whole(await tasks.get(await api.who(request, None), task_id))

    @app.patch(one, summary="Change it; what was due under the old schedule is void")
    async def change(request: Request, task_id: UUID, new: NewTaskState) -> TaskWithTimes:
        me = await changing(request)
        what = changes(await tasks.get(me, task_id), now(), new.model_dump())
        return _whole(await tasks.change(me, task_id, **what))

    @app.delete(one, status_code=204, summary="End it; its history stays")
    async def end(request: Request, task_id: UUID) -> None:
        await tasks.end(await changing(request), task_id)

    @app.post(one + "/{act}", summary="Pause it, or let it go on")
    async def act(request: Request, task_id: UUID, act: Literal["pause", "resume"]) -> TaskWithTimes:
        me = await changing(request)
        return _whole(await (tasks.pause if act == "pause" else tasks.resume)(me, task_id))

    @app.get(one + "/runs", summary="What became of its times, newest first")
    async def runs(request: Request, task_id: UUID, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[RunTold]:
        me = await api.who(request, None)
        task = await tasks.get(me, task_id)
        return [RunTold.model_validate(told_run(task, run)) for run in await tasks.runs(me, task_id, limit)]


def _whole(task: Task) -> TaskWithTimes:
    at = now()
    lines: list[Any] = [{"local": each.local, "utc": each.utc, "note": each.note} for each in coming(task, at)]
    return TaskWithTimes.model_validate(told_task(task) | {"next": lines, "notes": list(schedule_notes(task, at))})
