"""Tasks on a real database, and loops that fire them as a process of the agent does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from schemas.outward import Owner
from services.agent.owners.domain import Me
from services.agent.tables import app
from services.agent.tasks.domain import Run, Task, Wanted
from services.agent.tasks.firing import Fired, fire_due
from services.agent.tasks.kept import KeptRuns, KeptTasks
from services.agent.tasks.leasing.lease import TaskLease
from services.agent.tasks.loop import TaskLoop
from services.agent.tasks.rows import rule_text
from shared.clock import now
from shared.db import Database, create_missing
from shared.schedules.domain import Cron, Interval, Once, Understood, Wall
from shared.testing.servers import Servers

PATIENCE = 60.0


def somebody(zone: str = "Europe/Berlin") -> Me:
    return Me(Owner(kind="user", id=str(uuid4())), "Ada", "member", zone)


def wanted(rule: Once | Interval | Wall | Cron, zone: str = "Europe/Berlin", **more: Any) -> Wanted:
    fields: dict[str, Any] = {
        "kind": "reminder",
        "title": "Water",
        "text": "the plants",
        "when": Understood(rule, zone, "words"),
    }
    return Wanted(**fields | more)


def soon(seconds: float = 0.0) -> Once:
    return Once(at=now() + timedelta(seconds=seconds))


@dataclass
class Worker:
    """A process that fires tasks: its own connections, lease and loop."""

    db: Database
    part: str
    worker: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        self.lease = TaskLease(self.db, self.worker, self.part)
        self.runs = KeptRuns(self.db)
        self.loop = TaskLoop(self.db, self.lease, self.runs, self.worker, self.part)
        self.lease.taken = self.loop.wake

    async def start(self) -> None:
        await self.lease.start()
        await self.loop.start()

    async def stop(self) -> None:
        await self.loop.stop()
        await self.lease.stop()


@dataclass
class TaskOffice:
    """`back` makes believe that it is later."""

    servers: Servers
    db: Database
    tasks: KeptTasks

    async def fetch(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(sql, *values)]

    async def of(self, me: Me, sql: str) -> list[dict[str, Any]]:
        async with self.db.owned(me.owner) as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(sql)]

    async def back(self, me: Me, task: Task, by: timedelta) -> datetime:
        """As if the task had been made that much earlier, and nothing had run since it was to run. The time that it waits for now."""
        rule = task.rule
        if isinstance(rule, Once) and rule.at is not None:
            rule = Once(at=rule.at - by)
        elif isinstance(rule, Interval):
            rule = Interval(seconds=rule.seconds, start=rule.start - by)
        async with self.db.owned(me.owner) as tx:
            moved = (
                "UPDATE core.tasks SET next_at = next_at - $2::interval, rule = $3 WHERE task_id = $1 RETURNING next_at"
            )
            at: datetime = await tx.raw.fetchval(moved, task.task_id, by, rule_text(rule))
            await tx.raw.execute("UPDATE app.due_tasks SET due_at = $2 WHERE task_id = $1", task.task_id, at)
        return at

    async def promise(self, me: Me, task: Task, at: datetime, rule: Wall | None = None) -> None:
        """As if that were the time that it waits for, and that its rule."""
        async with self.db.owned(me.owner) as tx:
            moved = "UPDATE core.tasks SET next_at = $2, rule = $3 WHERE task_id = $1"
            kept = await tx.raw.fetchval("SELECT rule FROM core.tasks WHERE task_id = $1", task.task_id)
            await tx.raw.execute(moved, task.task_id, at, rule_text(rule) if rule else kept)
            await tx.raw.execute("UPDATE app.due_tasks SET due_at = $2 WHERE task_id = $1", task.task_id, at)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[TaskLease]:
        """A lease without a loop: a test fires by itself."""
        lease = TaskLease(self.db, uuid4().hex, f"test-{uuid4().hex[:6]}")
        await lease.start()
        try:
            await until(lambda: lease.fence is not None, "the lease was taken")
            yield lease
        finally:
            await lease.stop()

    async def fire(self, lease: TaskLease, me: Me) -> list[Fired]:
        """Whatever is due; what fired of this person's."""
        assert lease.fence is not None
        found: list[Fired] = []
        for _ in range(1000):
            due, fired = await fire_due(self.db, lease.fence, "test")
            found += fired
            if not fired and due < 500:
                break
        return [each for each in found if each.owner == me.owner]

    async def runs(self, me: Me, task: Task, limit: int = 1000) -> Sequence[Run]:
        return await self.tasks.runs(me, task.task_id, limit)

    async def notified(self, me: Me, task_id: UUID | None = None) -> list[dict[str, Any]]:
        rows = await self.of(me, "SELECT task_id, title, text, due_at FROM core.notifications ORDER BY due_at")
        return [row for row in rows if task_id in (None, row["task_id"])]


async def until(holds: Any, what: str, seconds: float = PATIENCE) -> None:
    """Wait for a condition, plain or awaitable."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        found = holds()
        if await found if asyncio.iscoroutine(found) else found:
            return
        assert asyncio.get_running_loop().time() < deadline, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def task_office(servers: Servers) -> AsyncIterator[TaskOffice]:
    db = Database(servers.settings("agent"), pool_size=6)
    await db.start()
    await create_missing(db, app)
    yield TaskOffice(servers, db, KeptTasks(db))
    await db.stop()
