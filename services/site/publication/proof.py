"""Verifies, while the site answers, the signatures behind a log that was opened by its newest one."""

import asyncio
from itertools import islice

import structlog

from services.site.publication.books import Books
from shared.errors import BadSignature
from shared.tasks import cancel, spawn

log = structlog.get_logger()
SHARE = 3
"""Pauses are so many times as long as the work between them: visitors come first."""
AT_ONCE = 20
UNTIL_OPEN = 0.2
"""Seconds between two looks whether the gate has answered: until then nobody is served, and everything else is more urgent."""


class Proof:
    """A part of the service. A signature that is not right makes the next look verify the whole stored log link by link."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="proof")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._books.door.answer(self._books.log).verdict == "waiting":  # noqa: ASYNC110 - the door tells nobody
            await asyncio.sleep(UNTIL_OPEN)
        while self._books.unproven and not self._books.doubted:
            began = loop.time()
            self._prove()
            await asyncio.sleep(SHARE * (loop.time() - began))

    def _prove(self) -> None:
        for seq in list(islice(self._books.unproven, AT_ONCE)):
            try:
                self._books.prove(seq)
            except BadSignature as error:
                log.warning("site.log_doubted", reason=error.message)
                return
