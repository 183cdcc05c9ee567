"""For whom the agent may act at the connectors (S10). Read and verified whenever it is asked about: a row alone is worth nothing."""

from collections.abc import Awaitable, Callable

from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from services.agent.owners import store
from services.agent.owners.acting import Acting, acting
from shared.clock import now
from shared.db import Database
from shared.errors import BadSignature, Refused
from shared.signing import PublicKeys

AUDIENCE = "agent"


Bound = Callable[[Acting], Awaitable[Signed | None]]


async def _none(_: Acting) -> Signed | None:
    return None


class Delegations:
    """`bound`: where an automation's own is; a run of one asks by nothing else."""

    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys
        self.bound: Bound = _none

    async def of(self, owner: Owner) -> Signed | None:
        """The one to ask the connectors with; None when there is none that holds now. A guest has none: the agent asks as itself."""
        if owner.kind != "user":
            return None
        run = acting.get()
        if run is not None:
            return await self.bound(run) if run.owner == owner else None
        async with self._db.owned(owner) as tx:
            row = await store.delegation_of(tx, owner)
        if row is None or row["role"] is None:
            return None
        signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
        return signed if self._holds(signed, owner) else None

    async def need(self, owner: Owner) -> Signed:
        """As `of`. Refused (code `delegation`) says what to do."""
        found = await self.of(owner)
        if found is None and acting.get() is not None:
            raise Refused(
                "The agent may not act at the connectors for this automation right now: the console has not said so, or it was taken back.",
                code="delegation",
            )
        if found is None:
            raise Refused(
                "The agent may not act for you at the connectors right now: the console has not said so, or its word is older than"
                " 12 hours. Open the workspace once from the console, and ask again.",
                code="delegation",
            )
        return found

    def _holds(self, signed: Signed, owner: Owner) -> bool:
        try:
            found = self._keys.verify("identity", signed, Delegation)
        except BadSignature:
            return False
        return found.owner == owner and found.audience == AUDIENCE and found.issued_at <= now() < found.expires_at
