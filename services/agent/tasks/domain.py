"""Tasks, and what became of each of their times. No framework.

A task is its owner's. One process fires them all (rule 9); a firing is one row for (task, nominal time), whatever anyone believes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from schemas.outward import Owner
from services.agent.owners.domain import Me
from shared.schedules.domain import Cron, Interval, Once, Understood, Wall

TaskKind = Literal["reminder", "automation"]
"""reminder: a notification with its text. automation: the agent is woken with a written instruction, in its owner's name (rule 28)."""
TaskState = Literal["waiting", "active", "paused", "ended"]
"""waiting: for a person to allow it. ended: nothing comes any more, or it was deleted or taken back; `reason` says which."""
Misfire = Literal["latest", "skip", "all"]
"""Times that were missed (rule 8): the latest of them is caught up, none is, or all are; each within the task's window."""
Overlap = Literal["skip", "wait"]
"""A time that comes while a run of the task is under way: it is skipped, with its reason; or it waits."""
RunState = Literal["claimed", "running", "done", "failed", "skipped", "missed", "interrupted"]
"""claimed: fired, and not begun. skipped, missed: not run, `reason` says why. interrupted: its process died; it is never run again by itself."""
WINDOW_S = 24 * 3600
"""Seconds for which a missed time is caught up, unless the task says otherwise (rule 8)."""
MOST_TASKS = 1000
"""Of one owner, those that have not ended. Guests: 20."""


@dataclass(frozen=True)
class Task:
    """`revision` counts its changes: what was queued under an older one is void (rule 9). `sources`: untrusted text that the conversation had read when it was
    made (S11). `card_id`, `instruction_hash`: of an automation, what a person allowed. `words`: the schedule, spelled out. `next_at`: None when nothing comes."""

    task_id: UUID
    kind: TaskKind
    title: str
    text: str
    rule: Once | Interval | Wall | Cron
    zone: str
    words: str
    state: TaskState
    created_at: datetime
    next_at: datetime | None
    revision: int = 1
    notify: bool = True
    misfire: Misfire = "latest"
    window_s: int = WINDOW_S
    overlap: Overlap = "skip"
    reason: str = ""
    sources: tuple[str, ...] = ()
    conversation_id: UUID | None = None
    card_id: UUID | None = None
    instruction_hash: str | None = None


@dataclass(frozen=True)
class Run:
    """What became of one nominal time of a task. `note`: how the time was shifted. `output`, `error`: of an automation, kept (rule 31). `count`, `until`: it stands
    for so many times that did not run, the last of them then."""

    task_id: UUID
    nominal_at: datetime
    state: RunState
    at: datetime
    ended_at: datetime | None = None
    reason: str = ""
    note: str = ""
    output: str = ""
    error: str = ""
    conversation_id: UUID | None = None
    turn_id: UUID | None = None
    count: int = 1
    until: datetime | None = None


@dataclass(frozen=True)
class Wanted:
    """A task to be made. Texts were checked (rule 19)."""

    kind: TaskKind
    title: str
    text: str
    when: Understood
    notify: bool = True
    misfire: Misfire = "latest"
    window_s: int = WINDOW_S
    overlap: Overlap = "skip"
    sources: tuple[str, ...] = ()
    conversation_id: UUID | None = None
    card_id: UUID | None = None


class Tasks(Protocol):
    """Kept in Postgres for a user, in memory for a guest; the same words for both. NotFound for what is not theirs (rule 24)."""

    async def add(self, me: Me, wanted: Wanted) -> Task: ...
    async def list(self, me: Me, *, ended: bool = False) -> tuple[Task, ...]:
        """By next time; those without one last."""
        ...

    async def get(self, me: Me, task_id: UUID) -> Task: ...
    async def change(self, me: Me, task_id: UUID, **what: Any) -> Task:
        """`when` (Understood), `title`, `text`, `notify`, `misfire`, `window_s`, `overlap`: a new revision. Refused for the text of an automation: that takes
        a new card."""
        ...

    async def pause(self, me: Me, task_id: UUID) -> Task: ...
    async def resume(self, me: Me, task_id: UUID) -> Task: ...
    async def end(self, me: Me, task_id: UUID, reason: str = "deleted") -> None: ...
    async def runs(self, me: Me, task_id: UUID, limit: int = 50) -> tuple[Run, ...]:
        """Newest first."""
        ...

    async def missed(self, me: Me, limit: int = 50) -> tuple[tuple[Task, Run], ...]:
        """What did not run, or ran late, and why; newest first."""
        ...


class Runner(Protocol):
    """Does what an automation says."""

    async def begin(self, owner: Owner, task: Task, run: Run) -> None:
        """Called once the run is durable, in the process that claimed it. Says what becomes of it by `Runs`; what it raises makes the run a failed one."""
        ...


class Runs(Protocol):
    """Runs of automations while they are under way. False: it is over already, whoever ended it; then nothing was written."""

    async def begun(
        self, owner: Owner, task_id: UUID, nominal_at: datetime, conversation_id: UUID, turn_id: UUID | None = None
    ) -> bool: ...
    async def ended(
        self,
        owner: Owner,
        task_id: UUID,
        nominal_at: datetime,
        state: RunState,
        *,
        output: str = "",
        error: str = "",
        reason: str = "",
    ) -> bool:
        """`state`: done, failed or interrupted."""
        ...
