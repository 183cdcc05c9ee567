"""Looks once a minute, and whenever connectors or automations change, for whom the agent may act."""

from uuid import UUID

from services.console.automations.usecases.renew_automations import FIRST, renew_automations
from services.console.delegations.usecases.renew_due import renew_due
from services.console.identity.issuer import Issuer
from services.console.rounds import Rounds
from shared.db import Database

AT_ONCE = 50
"""People in one transaction."""


class DelegationKeeper(Rounds):
    """A part of the console. `wake` after the commit of whatever may have changed it."""

    name = "delegations"

    def __init__(self, db: Database, issuer: Issuer) -> None:
        super().__init__()
        self._db, self._issuer = db, issuer

    async def round(self) -> None:
        while True:
            async with self._db.transaction() as tx:
                some = await renew_due(tx, self._issuer, AT_ONCE)
            if some < AT_ONCE:
                break
        after: UUID | None = FIRST
        while after is not None:
            async with self._db.transaction() as tx:
                after = await renew_automations(tx, self._issuer, after, AT_ONCE)
