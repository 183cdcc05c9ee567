"""Tasks of signed-in people, kept in Postgres; and the runs of their automations."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.owners.domain import Me
from services.agent.tasks import store
from services.agent.tasks.domain import Run, RunState, Task, Wanted
from services.agent.tasks.usecases.add_task import add_task
from services.agent.tasks.usecases.change_task import change_task
from services.agent.tasks.usecases.end_run import end_run
from services.agent.tasks.usecases.end_task import end_task
from services.agent.tasks.usecases.find_task import find_task
from services.agent.tasks.usecases.pause_task import pause_task
from services.agent.tasks.usecases.resume_task import resume_task
from shared.clock import now
from shared.db import Database
from shared.ids import new_id


class KeptTasks:
    """`Tasks` for users. `wake` is called once something may be due sooner than the loop thinks."""

    def __init__(self, db: Database, wake: Callable[[], None] = lambda: None) -> None:
        self._db, self.wake = db, wake

    async def add(self, me: Me, wanted: Wanted) -> Task:
        async with self._db.owned(me.owner) as tx:
            tx.after_commit(self.wake)
            return await add_task(tx, me.owner, new_id(), wanted, now())

    async def list(self, me: Me, *, ended: bool = False) -> tuple[Task, ...]:
        async with self._db.owned(me.owner) as tx:
            return await store.list_tasks(tx, me.owner, ended=ended)

    async def get(self, me: Me, task_id: UUID) -> Task:
        async with self._db.owned(me.owner) as tx:
            return await find_task(tx, me.owner, task_id)

    async def change(self, me: Me, task_id: UUID, **what: Any) -> Task:
        async with self._db.owned(me.owner) as tx:
            tx.after_commit(self.wake)
            return await change_task(tx, me.owner, task_id, what, now())

    async def pause(self, me: Me, task_id: UUID) -> Task:
        async with self._db.owned(me.owner) as tx:
            return await pause_task(tx, me.owner, task_id)

    async def resume(self, me: Me, task_id: UUID) -> Task:
        async with self._db.owned(me.owner) as tx:
            tx.after_commit(self.wake)
            return await resume_task(tx, me.owner, task_id, now())

    async def end(self, me: Me, task_id: UUID, reason: str = "deleted") -> None:
        async with self._db.owned(me.owner) as tx:
            await end_task(tx, me.owner, task_id, reason)

    async def runs(self, me: Me, task_id: UUID, limit: int = 50) -> tuple[Run, ...]:
        async with self._db.owned(me.owner) as tx:
            await find_task(tx, me.owner, task_id)
            return await store.runs_of(tx, me.owner, task_id, limit)

    async def missed(self, me: Me, limit: int = 50) -> tuple[tuple[Task, Run], ...]:
        async with self._db.owned(me.owner) as tx:
            return await store.missed_of(tx, me.owner, limit)


class KeptRuns:
    """`Runs`, kept in Postgres."""

    def __init__(self, db: Database, wake: Callable[[], None] = lambda: None) -> None:
        self._db, self.wake = db, wake

    async def begun(
        self, owner: Owner, task_id: UUID, nominal_at: datetime, conversation_id: UUID, turn_id: UUID | None = None
    ) -> bool:
        async with self._db.owned(owner) as tx:
            return await store.begin_run(tx, owner, task_id, nominal_at, conversation_id, turn_id)

    async def ended(
        self, owner: Owner, task_id: UUID, nominal_at: datetime, state: RunState, *, output: str = "", error: str = "", reason: str = ""
    ) -> bool:  # fmt: skip
        async with self._db.owned(owner) as tx:
            tx.after_commit(self.wake)
            return await end_run(tx, owner, task_id, nominal_at, state, output, error, reason)

    async def find(self, owner: Owner, task_id: UUID, nominal_at: datetime) -> tuple[Task, Run] | None:
        """The task as it is now, with that run."""
        async with self._db.owned(owner) as tx:
            task, run = await store.get_task(tx, owner, task_id), await store.run_at(tx, owner, task_id, nominal_at)
        return None if task is None or run is None else (task, run)
