"""For whom the agent may act at the connectors (S10). Read and verified whenever it is asked about: a row alone is worth nothing."""

from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from services.agent.owners import store
from shared.clock import now
from shared.db import Database
from shared.errors import BadSignature, Refused
from shared.signing import PublicKeys

AUDIENCE = "agent"


class Delegations:
    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys

    async def of(self, owner: Owner) -> Signed | None:
        """The one to ask the connectors with; None when there is none that holds now. A guest has none: the agent asks as itself."""
        if owner.kind != "user":
            return None
        async with self._db.owned(owner) as tx:
            row = await store.delegation_of(tx, owner)
        if row is None or row["role"] is None:
            return None
        signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
        return signed if self._holds(signed, owner) else None

    async def need(self, owner: Owner) -> Signed:
        """As `of`. Refused (code `delegation`) says what to do."""
        found = await self.of(owner)
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
