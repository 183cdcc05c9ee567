"""Sees to it that no secret outlives its mail account: looks after each removal, whenever a secret changed, and once a minute."""

import asyncio
from contextlib import suppress

from services.console.keys.ring import KeyRing
from services.console.mail.usecases.revoke_left import revoke_left
from shared.db import Database
from shared.errors import Transient
from shared.tasks import cancel, spawn

EVERY = 60.0
AT_ONCE = 20
"""Secrets in one transaction."""


class MailKeeper:
    """A part of the console. `wake` after the commit of whatever may have left a secret behind."""

    def __init__(self, db: Database, ring: KeyRing) -> None:
        self._db, self._ring = db, ring
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._news.set()

    async def start(self) -> None:
        self._news.set()
        self._task = spawn(self._run(), "mail accounts")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._news.wait()
            self._news.clear()
            with suppress(Transient):  # the database's absence, or a key's, shows in the service's health
                await self._revoke()

    async def _revoke(self) -> None:
        while True:
            async with self._db.transaction() as tx:
                some = await revoke_left(tx, await self._ring.signing(tx), AT_ONCE)
            if some < AT_ONCE:
                return
