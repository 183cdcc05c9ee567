"""Sees to it that no secret outlives its mail account: looks after each removal, whenever a secret changed, and once a minute."""

from services.console.keys.ring import KeyRing
from services.console.mail.usecases.revoke_left import revoke_left
from services.console.rounds import Rounds
from shared.db import Database

AT_ONCE = 20
"""Secrets in one transaction."""


class MailKeeper(Rounds):
    """A part of the console. `wake` after the commit of whatever may have left a secret behind."""

    name = "mail accounts"

    def __init__(self, db: Database, ring: KeyRing) -> None:
        super().__init__()
        self._db, self._ring = db, ring

    async def round(self) -> None:
        while True:
            async with self._db.transaction() as tx:
                some = await revoke_left(tx, await self._ring.signing(tx), AT_ONCE)
            if some < AT_ONCE:
                return
