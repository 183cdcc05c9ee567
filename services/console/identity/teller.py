"""Tells the surfaces at start of people whom they do not know yet."""

import structlog

from services.console.identity.issuer import Issuer
from services.console.identity.usecases.restate_standings import restate_standings
from shared.db import Database

log = structlog.get_logger()
AT_ONCE = 100
"""People in one transaction."""


class Teller:
    """A part of the console; its work is done when it has started."""

    def __init__(self, db: Database, issuer: Issuer) -> None:
        self._db, self._issuer = db, issuer

    async def start(self) -> None:
        told = 0
        while True:
            async with self._db.transaction() as tx:
                some = await restate_standings(tx, self._issuer, AT_ONCE)
            told += some
            if some < AT_ONCE:
                break
        if told:
            log.info("console.standings", told=told)

    async def stop(self) -> None:
        """Nothing runs."""
