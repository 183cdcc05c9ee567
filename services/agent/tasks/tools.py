"""Reminders and tasks as tools: everybody's own. A guest's live in memory while they are here (rule 22).

What untrusted text may have suggested goes with a new task as its sources; changing what is there waits on a card then (S11).
"""

from typing import Any, Literal

from pydantic import Field

from services.agent.conversations.texts import clean_value
from services.agent.notifications.domain import LONGEST_TEXT, LONGEST_TITLE
from services.agent.tasks.domain import WINDOW_S, Run, Task, Tasks
from services.agent.tasks.finding import find_task
from services.agent.tasks.scheduling import LONGEST_WORDS, coming
from services.agent.tasks.telling import told_run, told_task
from services.agent.tasks.wanting import HOUR, MOST_HOURS, changes, reminder
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool
from shared.clock import now
from shared.errors import NotFound

MOST_LISTED = 100
NAMED = Field(min_length=1, max_length=300)
"""A task: its id, or words that stand in no other."""
WHEN = "Words such as `in 10 minutes`, `every Sunday at 7`, `jeden Werktag um 7:30`, or a cron expression; in the user's own words."


class ReminderArguments(Arguments):
    """`when`: words of the user for the time, or a cron expression. `text`: what they are reminded of. `zone`: an IANA name, only when the user named one.
    `misfire`, `window_hours`: what becomes of times that were missed."""

    when: str = Field(min_length=1, max_length=LONGEST_WORDS)
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    title: str = Field(default="", max_length=LONGEST_TITLE)
    zone: str = Field(default="", max_length=64)
    notify: bool = True
    misfire: Literal["latest", "skip", "all"] = "latest"
    window_hours: int = Field(default=WINDOW_S // HOUR, ge=1, le=MOST_HOURS)


class ListArguments(Arguments):
    """`words`: only tasks with all of these; `ended`: also those that are over; `coming`: only the one that comes next."""

    words: str = Field(default="", max_length=300)
    ended: bool = False
    coming: bool = False


class TaskArguments(Arguments):
    """`task`: its id, or words of it that stand in no other task."""

    task: str = NAMED


class ChangeArguments(TaskArguments):
    """What is left out stays. `when`: a new schedule, or what is different ("at 8"). `zone` alone keeps the wall times."""

    when: str = Field(default="", max_length=LONGEST_WORDS)
    text: str = Field(default="", max_length=LONGEST_TEXT)
    title: str = Field(default="", max_length=LONGEST_TITLE)
    zone: str = Field(default="", max_length=64)
    notify: bool | None = None
    misfire: Literal["latest", "skip", "all"] | None = None
    window_hours: int | None = Field(default=None, ge=1, le=MOST_HOURS)
    overlap: Literal["skip", "wait"] | None = None


class HistoryArguments(Arguments):
    """`task`: its id or words of it; empty: what was missed or came late, of all tasks."""

    task: str = Field(default="", max_length=300)
    limit: int = Field(default=20, ge=1, le=100)


class TaskTools:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    async def remind(self, asked: Asked, given: ReminderArguments) -> Found:
        what = clean_value(given.model_dump())
        wanted = reminder(asked.me, now(), what, sources=asked.tainted, conversation_id=asked.conversation_id)
        return _confirmed(await self._tasks.add(asked.me, wanted), wanted.when.notes)

    async def list(self, asked: Asked, given: ListArguments) -> Found:
        tasks = await self._tasks.list(asked.me, ended=given.ended)
        words = given.words.casefold().split()
        found = [each for each in tasks if all(word in f"{each.title}\n{each.text}\n{each.words}".casefold() for word in words)]  # fmt: skip
        found = [each for each in found if each.next_at][:1] if given.coming else found
        value = {"tasks": [told_task(each) for each in found[:MOST_LISTED]], "of": len(found)}
        return Found(value, f"{len(found)} task{'' if len(found) == 1 else 's'}", _sources(*found[:MOST_LISTED]))

    async def change(self, asked: Asked, given: ChangeArguments) -> Found:
        task = await self._find(asked, given.task)
        what = changes(task, now(), clean_value(given.model_dump()))
        notes = what["when"].notes if "when" in what else ()
        return _confirmed(await self._tasks.change(asked.me, task.task_id, **what), notes)

    async def pause(self, asked: Asked, given: TaskArguments) -> Found:
        task = await self._find(asked, given.task)
        return _confirmed(await self._tasks.pause(asked.me, task.task_id))

    async def resume(self, asked: Asked, given: TaskArguments) -> Found:
        task = await self._find(asked, given.task)
        return _confirmed(await self._tasks.resume(asked.me, task.task_id))

    async def delete(self, asked: Asked, given: TaskArguments) -> Found:
        task = await self._find(asked, given.task)
        await self._tasks.end(asked.me, task.task_id)
        return Found({"task": told_task(task) | {"state": "ended", "next_at": None, "next_local": ""}}, f"deleted: {task.title}", _sources(task))  # fmt: skip

    async def history(self, asked: Asked, given: HistoryArguments) -> Found:
        if given.task:
            task = await self._find(asked, given.task, ended=True)
            rows = [(task, run) for run in await self._tasks.runs(asked.me, task.task_id, given.limit)]
        else:
            rows = list(await self._tasks.missed(asked.me, given.limit))
        value = {"runs": [told_run(task, run) for task, run in rows]}
        sources = (*_sources(*(task for task, _ in rows)), *_outputs(rows))
        return Found(value, f"{len(rows)} run{'' if len(rows) == 1 else 's'}", tuple(dict.fromkeys(sources)))

    async def _find(self, asked: Asked, meant: str, *, ended: bool = False) -> Task:
        """`ended`: also one that is over, when no other is meant."""
        try:
            return find_task(await self._tasks.list(asked.me), meant)
        except NotFound:
            if not ended:
                raise
        return find_task(await self._tasks.list(asked.me, ended=True), meant)


def _confirmed(task: Task, notes: tuple[str, ...] = ()) -> Found:
    """What was understood, and the next five times in the task's zone and UTC (rule 7)."""
    lines = [{"local": each.local, "utc": each.utc, "note": each.note} for each in coming(task, now())]
    value: dict[str, Any] = {"task": told_task(task), "next": lines, "notes": list(notes)}
    return Found(value, f"{task.title}: {task.words}"[:200], _sources(task))


def _sources(*tasks: Task) -> tuple[str, ...]:
    """A task that was made after untrusted text was read brings its taint along."""
    return tuple(dict.fromkeys(f"a task made after reading {source}" for each in tasks for source in each.sources))


def _outputs(rows: list[tuple[Task, Run]]) -> tuple[str, ...]:
    return ("output of an automation",) if any(run.output or run.error for _, run in rows) else ()


def make_tools(tasks: Tasks) -> tuple[Tool, ...]:
    mine = TaskTools(tasks)
    about = (
        f"Remind the user of something, once or again and again. {WHEN} Answer with the next times that it brings back."
    )
    return (
        Tool("create_reminder", about, ReminderArguments, mine.remind, EVERYBODY),
        Tool("list_tasks", "The user's reminders and automations, by next time.", ListArguments, mine.list, EVERYBODY),
        Tool("change_task", f"Change when a task comes or what it says. {WHEN}", ChangeArguments, mine.change, EVERYBODY, writes="tasks"),
        Tool("pause_task", "Pause a task; nothing of it comes until it is resumed.", TaskArguments, mine.pause, EVERYBODY, writes="tasks"),
        Tool("resume_task", "Let a paused task go on.", TaskArguments, mine.resume, EVERYBODY, writes="tasks"),
        Tool("delete_task", "Delete a task. Only when the user asked for it.", TaskArguments, mine.delete, EVERYBODY, writes="tasks"),
        Tool("task_history", "What became of a task's times, each with its reason; without a task: what was missed or came late.", HistoryArguments, mine.history, EVERYBODY),
    )  # fmt: skip
