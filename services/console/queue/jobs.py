"""Work on many items that may take longer than a page should (rule 31): it goes on by itself, and a page shows how far it is.

A job lives in the memory of one process. What it did is in the database, portion by portion; a process that stops in the middle
leaves the rest undecided.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from services.console.people.domain import Caller
from shared.errors import SchleuseError
from shared.ids import new_id
from shared.tasks import spawn

KEPT = 100
"""Finished jobs whose outcome can still be looked at."""

LISTED = 150
"""Outcomes on a page; the rest is counted."""


@dataclass(frozen=True)
class Outcome:
    """What came of one item; `reason` says why it was refused, or that the lock has not answered yet."""

    item_id: UUID
    title: str
    reason: str = ""


@dataclass(eq=False)
class Job:
    """`word` is what was asked for, as a participle. `sent` of `total` are on their way or refused, `answered` of them by the lock.

    `fault`: why it ended early.
    """

    id: UUID
    owner: str
    word: str
    total: int
    facts: dict[str, Any]
    sent: int = 0
    answered: int = 0
    done: list[Outcome] = field(default_factory=list)
    refused: list[Outcome] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    fault: str = ""


class Jobs:
    """The jobs of this process."""

    def __init__(self) -> None:
        self._jobs: dict[UUID, Job] = {}

    def start(self, caller: Caller, word: str, total: int, work: Callable[[Job], Awaitable[None]], **facts: Any) -> Job:
        """Begin `work`, which fills the job that it is given."""
        job = Job(new_id(), caller.id, word, total, facts)
        self._jobs[job.id] = job
        for old in [each for each in self._jobs.values() if each.finished.is_set()][:-KEPT]:
            del self._jobs[old.id]
        job.task = spawn(self._run(job, work), "together")
        return job

    def find(self, job_id: UUID, caller: Caller) -> Job | None:
        """None for one that there is not (any more), or another person's (rule 24)."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.owner == caller.id else None

    @staticmethod
    async def _run(job: Job, work: Callable[[Job], Awaitable[None]]) -> None:
        try:
            await work(job)
        except SchleuseError as error:
            job.fault = error.message
        finally:
            job.finished.set()


async def wait(job: Job, seconds: float) -> bool:
    """Whether it is finished within that time."""
    try:
        async with asyncio.timeout(seconds):
            await job.finished.wait()
    except TimeoutError:
        return False
    return True
