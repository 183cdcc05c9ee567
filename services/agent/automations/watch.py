"""Looks after automations: whose owner may not come in any more, or whose card was taken back, ends, and the console is told how each stands."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from uuid import UUID

import structlog

from schemas.outward import Owner
from services.agent.actions import store as actions
from services.agent.actions.domain import TAKEN_BACK
from services.agent.automations import store
from services.agent.automations.allowed import is_stale
from services.agent.automations.store import Place
from services.agent.automations.usecases.state_automation import is_stated, state_automation
from services.agent.notifications.kept import Notifications
from services.agent.owners.domain import Me
from services.agent.tasks.usecases.end_task import end_task
from services.agent.tasks.usecases.find_task import find_task
from services.agent.tasks.usecases.pause_task import pause_task
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import NotFound, SchleuseError
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 20.0
SHUT_OUT = "its owner may not come in any more"
RESTORED = "It is paused: this installation was restored from a backup, and whether somebody took it back since is not known here. Resume it if it is still wanted."
Who = Callable[[Owner, str], Awaitable[Me | None]]
Stop = Callable[[Me, UUID], Awaitable[None]]


class AutomationWatch:
    """A part. `wake` after the commit of whatever may have changed one; every 20 seconds it looks by itself. `stop`: what answers in a conversation ends."""

    def __init__(
        self, db: Database, who: Who, stop: Stop, notifications: Notifications, restored_at: datetime | None = None
    ) -> None:
        self._db, self._who, self._stop, self._notifications = db, who, stop, notifications
        self._restored_at = restored_at
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._woken.set()

    async def start(self) -> None:
        self._woken.set()
        self._task = spawn(self._run(), "automations")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(EVERY):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()
            with self._held_up():
                await self.look()

    @contextmanager
    def _held_up(self) -> Iterator[None]:
        """What is wrong with one owner's keeps nobody else's waiting."""
        try:
            yield
        except SchleuseError as error:
            log.warning("automations.held_up", error=error.message)

    async def look(self) -> None:
        """Once over all that have not ended."""
        async with self._db.reading() as tx:
            places = await store.open_places(tx)
        for owner, mine in groupby(places, key=lambda each: each.owner):
            with self._held_up():
                me = await self._who(owner, "")
                for place in mine:
                    await self._look_at(place, me)

    async def _look_at(self, place: Place, me: Me | None) -> None:
        async with self._db.owned(place.owner) as tx:
            task = await store.task_of(tx, place.owner, place.card_id)
            revoked = await actions.is_revoked(tx, place.owner, place.card_id)
        why = SHUT_OUT if me is None else TAKEN_BACK if revoked else ""
        if why and task is not None:
            await self._end(place, me or Me(place.owner, "", "viewer"), task["task_id"], why)
        elif self._restored_at is None and task is not None and is_stated(place, task):
            return
        async with self._db.owned(place.owner) as tx:
            await self._after_restore(tx, place)
            if task is None and place.task_id is None and is_stale(place.made_at, now()):
                await store.drop_place(tx, place.card_id)
            else:
                await state_automation(tx, place, now())

    async def _after_restore(self, tx: Tx, place: Place) -> None:
        """What was taken back since the backup is not known here: its owner looks at it, and resumes it or not. Once for each restore."""
        if self._restored_at is None or not await store.is_unknown(tx, place.card_id, self._restored_at):
            return
        await store.looked(tx, place.card_id)
        task = await store.task_of(tx, place.owner, place.card_id)
        if task is not None and task["state"] == "active":
            paused = await pause_task(tx, place.owner, task["task_id"])
            await self._notifications.put(
                tx, place.owner, paused.title, RESTORED, link="/tasks", task_id=paused.task_id
            )

    async def _end(self, place: Place, me: Me, task_id: UUID, why: str) -> None:
        """Told once, whichever instance was first; what runs of it is stopped, too."""
        async with self._db.owned(place.owner) as tx:
            if await store.hold_place(tx, place.card_id) is not None and await end_task(tx, place.owner, task_id, why):
                title = (await find_task(tx, place.owner, task_id)).title
                await self._notifications.put(tx, place.owner, title, f"It runs no more: {why}.", link="/tasks", task_id=task_id)  # fmt: skip
            talks = await store.under_way(tx, place.owner, place.card_id)
        for conversation_id in talks:
            try:
                await self._stop(me, conversation_id)
            except NotFound:
                log.info("automations.conversation_is_gone", conversation=str(conversation_id))
