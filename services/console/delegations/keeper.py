"""Looks once a minute, and whenever connectors or automations change, for whom the agent may act."""

import asyncio
from contextlib import suppress
from uuid import UUID

from services.console.automations.usecases.renew_automations import FIRST, renew_automations
from services.console.delegations.usecases.renew_due import renew_due
from services.console.identity.issuer import Issuer
from shared.db import Database
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 60.0
AT_ONCE = 50
"""People in one transaction."""


class DelegationKeeper:
    """A part of the console. `wake` after the commit of whatever may have changed it."""

    def __init__(self, db: Database, issuer: Issuer) -> None:
        self._db, self._issuer = db, issuer
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._news.set()

    async def start(self) -> None:
        self._news.set()
        self._task = spawn(self._run(), "delegations")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._news.wait()
            self._news.clear()
            with suppress(Transient):  # the database's absence shows in the service's health
                await self._renew()

    async def _renew(self) -> None:
        while True:
            async with self._db.transaction() as tx:
                some = await renew_due(tx, self._issuer, AT_ONCE)
            if some < AT_ONCE:
                break
        after: UUID | None = FIRST
        while after is not None:
            async with self._db.transaction() as tx:
                after = await renew_automations(tx, self._issuer, after, AT_ONCE)
