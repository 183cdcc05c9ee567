"""Passes news between the consoles of one installation. What a notice lost is found in the database within a second."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from services.console.instances.views import moved_since, present
from services.console.live import MASSES, Live
from shared.db import Database
from shared.db.notices import Notices
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 1.0
OVERLAP = timedelta(seconds=2)
"""What was heard is looked at again for so long: a transaction may commit later than one that began after it."""
CALM = 0.5
"""Seconds between two notices about masses; pages that show them need no more."""


class Echo:
    """A part of the console; of a console that is alone it does nothing."""

    def __init__(self, db: Database, live: Live, notices: Notices) -> None:
        self._db, self._live, self._notices = db, live, notices
        self._since: datetime | None = None
        self._told: set[tuple[str, str]] = set()
        self._masses = float("-inf")
        self._task: asyncio.Task[None] | None = None
        if notices.several:
            live.others = self._tell
            notices.on("live", self._hear)

    async def start(self) -> None:
        if self._notices.several:
            self._task = spawn(self._run(), "echo")

    async def stop(self) -> None:
        await cancel(self._task)

    def _tell(self, message: dict[str, Any]) -> None:
        if message.get("event") in MASSES:
            clock = asyncio.get_running_loop().time()
            if clock - self._masses < CALM:
                return
            self._masses = clock
        self._notices.tell("live", message)

    def _hear(self, message: dict[str, Any] | None) -> None:
        if message is not None:
            self._live.tell_here(message)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self._look()
            except Transient:
                continue  # the next look goes back as far as it must

    async def _look(self) -> None:
        """Tell pages of what they may not have heard of; hearing twice of one changes nothing."""
        async with self._db.reading() as tx:
            at = await present(tx)
            moved = await moved_since(tx, self._since) if self._since and self._live.sessions() else []
        self._since = at - OVERLAP
        found = {(each["item_id"], each["state"]) for each in moved}
        for item_id, state in found - self._told:
            self._live.tell_here({"event": "item", "item_id": item_id, "state": state})
        self._told = found
