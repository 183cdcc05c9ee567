"""Reservations that expired are closed four times a minute, whatever process made them."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from schemas.outward import Owner
from services.agent.spend import store
from shared.db import Database
from shared.errors import SchleuseError
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 15.0


class Sweep:
    """`expire(account)` closes what expired of one account."""

    def __init__(self, db: Database, expire: Callable[[Owner], Awaitable[int]]) -> None:
        self._db, self._expire = db, expire
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), "ledger sweep")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            try:
                await self.once()
            except SchleuseError as error:
                log.warning("ledger.sweep_waits", error=error.message)
            await asyncio.sleep(EVERY)

    async def once(self) -> int:
        """Look at whoever reserved something lately; how many calls were closed."""
        async with self._db.reading() as tx:
            accounts = await store.spenders(tx)
        closed = 0
        for account, at in accounts:
            closed += await self._expire(account)
            async with self._db.owned(account) as tx:
                await store.let_go(tx, account, at)
        return closed
