"""The pages of one's tasks: what comes, what was missed and why, one task with its history. Every action is a form."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.front import Asked, Front
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Task, Tasks
from services.agent.tasks.scheduling import schedule_notes
from services.agent.tasks.showing import next_times, row_of, run_row
from services.agent.tasks.wanting import changes, reminder
from shared.clock import now
from shared.errors import Conflict, Forbidden, Refused
from shared.identity.doors import go

RUNS, MISSED = 100, 20
Act = Callable[[Me, UUID], Awaitable[Any]]


class TaskPages:
    def __init__(self, front: Front, tasks: Tasks) -> None:
        self._front, self._tasks = front, tasks

    def routes(self) -> list[Route]:
        page, one = self._front.page, "/tasks/{task_id:uuid}"
        tasks = self._tasks
        return [
            Route("/tasks", page(self.show), methods=["GET"]),
            Route("/tasks", page(self.add), methods=["POST"]),
            Route(one, page(self.one), methods=["GET"]),
            Route(one, page(self.change), methods=["POST"]),
            Route(one + "/pause", page(self._doing(tasks.pause)), methods=["POST"]),
            Route(one + "/resume", page(self._doing(tasks.resume)), methods=["POST"]),
            Route(one + "/delete", page(self._doing(tasks.end, back="/tasks")), methods=["POST"]),
        ]

    async def show(self, asked: Asked) -> Response:
        return await self._list(asked)

    async def add(self, asked: Asked) -> Response:
        """What is not understood comes back in its fields, with a hint."""
        try:
            self._front.check(asked)
            caller = self._front.callers.settle(asked.caller)
            made = await self._tasks.add(caller.me, reminder(caller.me, now(), _given(asked.form)))
        except Forbidden:
            raise
        except (Refused, Conflict) as error:
            return await self._list(asked, error.status, notice=error.message, draft=asked.form)
        return self._front.callers.remember(go(f"/tasks/{made.task_id}?made=1"), caller)

    async def one(self, asked: Asked) -> Response:
        return await self._one(asked, await self._tasks.get(asked.caller.me, _id(asked)))

    async def change(self, asked: Asked) -> Response:
        self._front.check(asked)
        me = asked.caller.me
        task = await self._tasks.get(me, _id(asked))
        try:
            await self._tasks.change(me, task.task_id, **changes(task, now(), _given(asked.form)))
        except (Refused, Conflict) as error:
            return await self._one(asked, task, error.status, notice=error.message, draft=asked.form)
        return go(f"/tasks/{task.task_id}?made=1")

    def _doing(self, act: Act, back: str = "") -> Callable[[Asked], Awaitable[Response]]:
        async def do(asked: Asked) -> Response:
            self._front.check(asked)
            me, task_id = asked.caller.me, _id(asked)
            try:
                await act(me, task_id)
            except (Refused, Conflict) as error:
                return await self._one(asked, await self._tasks.get(me, task_id), error.status, notice=error.message)
            return go(back or ("/tasks" if asked.form.get("back") == "list" else f"/tasks/{task_id}"))

        return do

    async def _list(
        self, asked: Asked, status: int = 200, *, notice: str = "", draft: Mapping[str, str] | None = None
    ) -> Response:
        me, at = asked.caller.me, now()
        ended = asked.request.query_params.get("ended") == "1"
        rows = [row_of(each, at) for each in await self._tasks.list(me, ended=ended)]
        missed = [run_row(task, run, at) for task, run in await self._tasks.missed(me, MISSED)]
        known = {"rows": rows, "missed": missed, "ended": ended, "notice": notice, "draft": _draft(draft)}
        return self._front.show(asked.caller, "tasks.html", status, here="tasks", **known)

    async def _one(
        self, asked: Asked, task: Task, status: int = 200, *, notice: str = "", draft: Mapping[str, str] | None = None
    ) -> Response:
        me, at = asked.caller.me, now()
        runs = [run_row(task, run, at) for run in await self._tasks.runs(me, task.task_id, RUNS)]
        known = {"row": row_of(task, at), "next": next_times(task, at), "notes": schedule_notes(task, at), "runs": runs}
        made = asked.request.query_params.get("made") == "1" and status == 200
        more = {"made": made, "notice": notice, "draft": _draft(draft), "is_open": draft is not None, "most": RUNS}
        return self._front.show(asked.caller, "task.html", status, here="tasks", **known, **more)


def _id(asked: Asked) -> UUID:
    found: UUID = asked.request.path_params["task_id"]
    return found


def _given(form: Mapping[str, str]) -> dict[str, Any]:
    """A form's fields as they are asked for. Refused for hours that are no number. A form that shows a box without a tick says so by `boxes`."""
    given: dict[str, Any] = {name: form.get(name, "").strip() for name in ("when", "title", "zone")}
    given["text"] = form.get("text", "").replace("\r\n", "\n").strip()
    hours = form.get("window_hours", "").strip()
    if hours:
        if not (hours.isascii() and hours.isdigit() and len(hours) < 6):
            raise Refused("The hours for which a missed time is caught up are a whole number.", code="window")
        given["window_hours"] = int(hours)
    given |= {name: form[name] for name, known in _CHOICES.items() if form.get(name) in known}
    return given | ({"notify": "notify" in form} if "boxes" in form else {})


def _draft(form: Mapping[str, str] | None) -> dict[str, str]:
    """What somebody had written, to be put right."""
    return {name: (form or {}).get(name, "") for name in ("when", "text", "title", "zone", "window_hours")}


_CHOICES = {"misfire": ("latest", "skip", "all"), "overlap": ("skip", "wait")}
