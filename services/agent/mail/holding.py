"""A person's mail accounts, to be given to them or deleted here. The mails themselves lie at the provider, and no password is ever here."""

from collections.abc import AsyncIterator

from schemas.outward import Owner
from services.agent.mail import store
from services.agent.mail.usecases.close_account import close_account
from shared.clock import now
from shared.db import Database


class MailHolding:
    """Deleting them here also gives their secrets back: the console revokes them."""

    name = "mail accounts"
    tables: frozenset[str] = frozenset()

    def __init__(self, db: Database) -> None:
        self._db = db

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """The rows themselves are exported with all others."""
        nothing: tuple[tuple[str, bytes], ...] = ()
        for each in nothing:
            yield each

    async def forget(self, owner: Owner) -> int:
        """The rows go with all others, after this."""
        async with self._db.owned(owner) as tx:
            held = await store.open_ones(tx, owner)
            for each in held:
                await close_account(tx, owner, each.account_id, now())
        return len(held)
