"""A part that looks once a minute, and whenever it is woken, whether there is something to do."""

import asyncio
from contextlib import suppress
from typing import ClassVar

from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 60.0


class Rounds:
    """`wake` after the commit of whatever may have changed what `round` looks for."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def round(self) -> None:
        """All that is to be done now."""
        raise NotImplementedError

    def wake(self) -> None:
        self._news.set()

    async def start(self) -> None:
        self._news.set()
        self._task = spawn(self._run(), self.name)

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._news.wait()
            self._news.clear()
            with suppress(Transient):  # the database's absence, or a key's, shows in the service's health
                await self.round()
