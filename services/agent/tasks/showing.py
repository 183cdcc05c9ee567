"""How tasks look on a page: times in the owner's zone, states and reasons in words. Pure."""

from dataclasses import dataclass
from datetime import datetime

from services.agent.tasks.domain import Run, Task
from services.agent.tasks.scheduling import coming
from shared.schedules.telling import line
from shared.schedules.zones import wall

STATES = {"waiting": "waits for a person", "active": "on", "paused": "paused", "ended": "over"}
TONES = {"waiting": "wait", "active": "live", "paused": "", "ended": ""}
RUNS = {
    "claimed": "due now",
    "running": "runs",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "missed": "missed",
    "interrupted": "interrupted",
}
BAD = frozenset({"failed", "missed", "interrupted"})


@dataclass(frozen=True)
class Time:
    """`said`: `Sun 6 Dec, 07:00`, with the year when it is another one. `utc`: `2026-12-06T06:00:00Z`."""

    at: datetime
    said: str
    utc: str
    note: str = ""


@dataclass(frozen=True)
class TaskRow:
    task: Task
    state: str
    tone: str
    next: Time | None


@dataclass(frozen=True)
class RunRow:
    """`due`: the nominal time; `ran`: when something became of it. `why`: the reason and how the time was shifted."""

    task: Task
    run: Run
    state: str
    is_bad: bool
    due: Time
    ran: Time
    why: str


def time_of(zone: str, at: datetime, now: datetime, note: str = "") -> Time:
    here, today = wall(zone, at), wall(zone, now)
    year = "" if here.year == today.year else f" {here.year}"
    seconds = f":{here:%S}" if here.second else ""
    return Time(at, f"{here:%a} {here.day} {here:%b}{year}, {here:%H:%M}{seconds}", line(at, zone).utc, note)


def row_of(task: Task, now: datetime) -> TaskRow:
    coming_at = None if task.next_at is None else time_of(task.zone, task.next_at, now)
    return TaskRow(task, STATES[task.state], TONES[task.state], coming_at)


def run_row(task: Task, run: Run, now: datetime) -> RunRow:
    why = " ".join(each for each in (run.reason, run.note) if each)
    due, ran = time_of(task.zone, run.nominal_at, now), time_of(task.zone, run.at, now)
    return RunRow(task, run, RUNS[run.state], run.state in BAD, due, ran, why)


def next_times(task: Task, now: datetime) -> list[Time]:
    """The next five, as a confirmation shows them (rule 7)."""
    return [time_of(task.zone, each.at, now, each.note) for each in coming(task, now)]
