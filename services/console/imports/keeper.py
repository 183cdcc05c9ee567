"""Throws away files that nobody imported: they lie here for a day at most."""

from services.console.imports import store
from services.console.rounds import Rounds
from shared.clock import now
from shared.db import Database


class ImportKeeper(Rounds):
    """A part of the console."""

    name = "imports"

    def __init__(self, db: Database) -> None:
        super().__init__()
        self._db = db

    async def round(self) -> None:
        async with self._db.transaction() as tx:
            await store.drop_old(tx, now())
