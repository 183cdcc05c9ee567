"""How calls ended, written down: until it is, it is kept and tried again. While it cannot be, no new call begins either (rule 17)."""

import asyncio

from services.connectors.audit.log import AuditLog, Note
from shared.errors import Transient
from shared.tasks import spawn

AGAIN = 0.5
LAST_TRIES = 5.0
"""Seconds at a stop."""


class Endings:
    """A part. Started before the calls, stopped after them. What is not written when the process ends is found as `lost` at the next start."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, note: Note) -> None:
        task = spawn(self._write(note), "call ended")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait a little until everything is written."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_TRIES)
        for task in tuple(self._tasks):
            task.cancel()

    async def _write(self, note: Note) -> None:
        while True:
            try:
                return await self._audit.append(note)
            except Transient:
                await asyncio.sleep(AGAIN)
