"""A person's download links: exported with all other rows, deleted here with whose they are and their copies."""

import asyncio
from collections.abc import AsyncIterator

from schemas.outward import Owner
from services.agent.downloads import store
from services.agent.downloads.spool import Spool
from shared.db import Database


class DownloadsHolding:
    name = "downloads"
    tables: frozenset[str] = frozenset()

    def __init__(self, db: Database, spool: Spool) -> None:
        self._db, self._spool = db, spool

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """The rows themselves are exported with all others."""
        nothing: tuple[tuple[str, bytes], ...] = ()
        for each in nothing:
            yield each

    async def forget(self, owner: Owner) -> int:
        async with self._db.owned(owner) as tx:
            ids = await store.all_of(tx, owner)
            count = await store.remove(tx, owner, ids)
        await asyncio.to_thread(self._spool.remove, *ids)
        return count
