"""Takes pages down at the time until which they were approved, to the moment, whatever else is slow or away."""

import asyncio

from services.site.publication.shelf import Shelf
from shared.clock import now
from shared.tasks import cancel, spawn

LONGEST = 0.5
"""Seconds between two looks at the wall clock, which somebody may have set."""


class Expiry:
    """A part of the service."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="expiry")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            end = self._shelf.next_end
            left = LONGEST if end is None else (end - now()).total_seconds()
            await asyncio.sleep(min(LONGEST, max(left, 0.001)))
            self._shelf.expire(now())
