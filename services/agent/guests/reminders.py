"""The clock of guests' reminders. One fires only while a page of the guest is open, as a toast and nothing else (rule 22)."""

import asyncio
import heapq
from datetime import datetime, timedelta
from uuid import UUID

from services.agent.guests.tasks import GuestTasks
from services.agent.guests.visits import Visits
from services.agent.notifications.domain import Notification
from services.agent.notifications.kept import Notifications
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Task
from shared.clock import now
from shared.ids import new_id
from shared.tasks import cancel, spawn

LONGEST = 1.0
"""Seconds between two looks at the clock, which may be set."""
COMES_BACK = timedelta(seconds=3)
"""A page that is loaded anew is open again by then."""
Timed = tuple[datetime, int, Me, UUID, int]


class GuestReminders:
    """A part of the service."""

    def __init__(self, visits: Visits, tasks: GuestTasks, notifications: Notifications) -> None:
        self._visits, self._tasks, self._notifications = visits, tasks, notifications
        self._heap: list[Timed] = []
        self._count = 0
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        tasks.timed = self._timed

    async def start(self) -> None:
        self._task = spawn(self._run(), "guests' reminders")

    async def stop(self) -> None:
        await cancel(self._task)

    def _timed(self, me: Me, task: Task) -> None:
        assert task.next_at is not None
        self._count += 1  # so that no two compare by what cannot be compared
        heapq.heappush(self._heap, (task.next_at, self._count, me, task.task_id, task.revision))
        self._woken.set()

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            wait = self._look(now())
            try:
                async with asyncio.timeout(wait):
                    await self._woken.wait()
            except TimeoutError:
                continue

    def _look(self, at: datetime) -> float | None:
        """Fire what is due; seconds until the next look, None when nothing waits."""
        waiting: list[Timed] = []
        while self._heap and self._heap[0][0] <= at:
            each = heapq.heappop(self._heap)
            if not self._came(each, at):
                waiting.append(each)
        for each in waiting:
            heapq.heappush(self._heap, each)
        if not self._heap:
            return None
        return 0.1 if waiting else min(LONGEST, max(0.0, (self._heap[0][0] - at).total_seconds()))

    def _came(self, timed: Timed, at: datetime) -> bool:
        """False when its guest may be back in a moment."""
        due_at, _, me, task_id, revision = timed
        if not self._visits.is_here(me):
            return True
        here = self._visits.is_connected(me)
        if not here and at - due_at < COMES_BACK:
            return False
        fired = self._tasks.fire(me, task_id, revision, at, here=here)
        if fired is not None:
            outside = bool(fired.sources)
            toast = Notification(new_id(), fired.title, fired.text, at, due_at, task_id, from_outside=outside)
            self._notifications.push(me, toast)
        return True
