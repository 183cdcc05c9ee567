"""At the first start after a restore: keys of the agent's API end."""

from datetime import datetime

import structlog

from services.console.access.usecases.end_restored import end_restored
from services.console.identity.issuer import Issuer
from shared.db import Database

log = structlog.get_logger()


class KeysEndWithARestore:
    """A part of the console; its work is done when it has started. `restored_at` None: nothing was ever restored here."""

    def __init__(self, db: Database, issuer: Issuer, restored_at: datetime | None) -> None:
        self._db, self._issuer, self._restored_at = db, issuer, restored_at

    async def start(self) -> None:
        if self._restored_at is None:
            return
        async with self._db.transaction() as tx:
            ended = await end_restored(tx, self._issuer, self._restored_at)
        if ended:
            log.info("console.keys_ended", ended=ended)

    async def stop(self) -> None:
        """Nothing runs."""
