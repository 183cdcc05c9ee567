"""Tells of cards on which nobody decided in time."""

import asyncio
from datetime import timedelta

import structlog

from services.connectors.book.keeper import Keeper
from services.connectors.cards.usecases.expire_cards import expire_cards
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError
from shared.tasks import cancel, spawn

log = structlog.get_logger()
LONGEST = timedelta(hours=1)
AGAIN = timedelta(seconds=5)


class CardExpiry:
    """A part. Looks at start, when the next card's time is over, and at least hourly: the clock may have been set."""

    def __init__(self, db: Database, keeper: Keeper) -> None:
        self._db, self._keeper = db, keeper
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        keeper.listeners.append(self._woken.set)

    async def start(self) -> None:
        self._task = spawn(self._run(), "card expiry")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                async with self._db.transaction() as tx:
                    await expire_cards(tx, self._keeper, now())
                wait = self._until_next()
            except SchleuseError as error:
                log.warning("cards.expiry_failed", error=error.message)
                wait = AGAIN
            await self._sleep(wait)

    def _until_next(self) -> timedelta:
        at = now()
        due = [each.card.expires_at - at for each in self._keeper.book.cards.values() if each.state(at) == "pending"]
        return min((max(each, timedelta(0)) for each in due), default=LONGEST)

    async def _sleep(self, wait: timedelta) -> None:
        try:
            async with asyncio.timeout(min(wait, LONGEST).total_seconds()):
                await self._woken.wait()
        except TimeoutError:
            return
