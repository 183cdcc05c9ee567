"""Tasks of whoever asks: a user's from the database, a guest's from memory."""

from typing import Any
from uuid import UUID

from services.agent.owners.domain import Me
from services.agent.tasks.domain import Run, Task, Tasks, Wanted


class AllTasks:
    """`Tasks` for everybody. A guest's reminders never reach the database (rule 22)."""

    def __init__(self, kept: Tasks, guests: Tasks) -> None:
        self._kept, self._guests = kept, guests

    def of(self, me: Me) -> Tasks:
        return self._guests if me.is_guest else self._kept

    async def add(self, me: Me, wanted: Wanted) -> Task:
        return await self.of(me).add(me, wanted)

    async def list(self, me: Me, *, ended: bool = False) -> tuple[Task, ...]:
        return await self.of(me).list(me, ended=ended)

    async def get(self, me: Me, task_id: UUID) -> Task:
        return await self.of(me).get(me, task_id)

    async def change(self, me: Me, task_id: UUID, **what: Any) -> Task:
        return await self.of(me).change(me, task_id, **what)

    async def pause(self, me: Me, task_id: UUID) -> Task:
        return await self.of(me).pause(me, task_id)

    async def resume(self, me: Me, task_id: UUID) -> Task:
        return await self.of(me).resume(me, task_id)

    async def end(self, me: Me, task_id: UUID, reason: str = "deleted") -> None:
        await self.of(me).end(me, task_id, reason)

    async def runs(self, me: Me, task_id: UUID, limit: int = 50) -> tuple[Run, ...]:
        return await self.of(me).runs(me, task_id, limit)

    async def missed(self, me: Me, limit: int = 50) -> tuple[tuple[Task, Run], ...]:
        return await self.of(me).missed(me, limit)
