"""A person's proposals, to be given to them or deleted here. What was proposed stays with the lock: it is the workplace's."""

from collections.abc import AsyncIterator

from schemas.outward import Owner
from services.agent.proposals import store
from shared.db import Database


class ProposalsHolding:
    """Speaks for whose a submission is, which stands beside the owned rows."""

    name = "proposals"
    tables: frozenset[str] = frozenset()

    def __init__(self, db: Database) -> None:
        self._db = db

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """The rows themselves are exported with all others."""
        nothing: tuple[tuple[str, bytes], ...] = ()
        for each in nothing:
            yield each

    async def forget(self, owner: Owner) -> int:
        async with self._db.owned(owner) as tx:
            return await store.forget(tx, owner)
