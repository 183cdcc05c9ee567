"""Refusals are entries, too (rule 17). Whoever is refused again and again cannot fill the audit with them: it waits for its turn."""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace

from services.connectors.audit.log import AuditLog, Note
from shared.errors import SchleuseError

AT_ONCE = 5000
"""Refusals of one asker that are written as fast as it goes."""
EVERY = 0.02
"""Seconds between two of them from then on."""
MOST_WAITING = 200
"""Of one asker. What comes on top is answered, and counted in the next entry."""


class Refusals:
    """One for a process."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._free: dict[str, float] = {}
        self._waiting: Counter[str] = Counter()
        self._counted: Counter[str] = Counter()
        self._ending = asyncio.Event()

    async def write(self, note: Note) -> None:
        """Returns when it is durable or counted. Transient (code `audit`) when it cannot be written."""
        asker = note.asker
        if self._waiting[asker] >= MOST_WAITING:
            self._counted[asker] += 1
            return
        self._waiting[asker] += 1
        try:
            await self._turn(asker)
        finally:
            self._waiting[asker] -= 1
        await self._append(note, self._counted.pop(asker, 0))

    def hurry(self) -> None:
        """The process ends: what waits is written now."""
        self._ending.set()

    async def _append(self, note: Note, counted: int) -> None:
        if counted:
            said = f"; {counted} more refusals before it were only counted"
            note = replace(note, detail=f"{note.detail[: 480 - len(said)]}{said}")
        try:
            await self._audit.append(note)
        except SchleuseError:
            self._counted[note.asker] += counted
            raise

    async def _turn(self, asker: str) -> None:
        clock = asyncio.get_running_loop().time()
        free = self._free[asker] = max(self._free.get(asker, 0.0), clock) + EVERY
        wait = free - clock - AT_ONCE * EVERY
        if wait > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._ending.wait()
