"""For which automations the agent may act at the connectors (S10). Read and verified whenever it is asked about: a row alone is worth nothing."""

from schemas.outward import Delegation
from schemas.statements import Signed
from services.agent.automations import store
from services.agent.automations.usecases.keep_delegation import AUDIENCE
from services.agent.owners.acting import Acting
from shared.clock import now
from shared.db import Database
from shared.errors import BadSignature
from shared.signing import PublicKeys


class BoundDelegations:
    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys

    async def __call__(self, run: Acting) -> Signed | None:
        """The one for exactly this card and instruction; None when there is none that holds now."""
        async with self._db.owned(run.owner) as tx:
            signed = await store.delegation(tx, run.owner, run.card_id)
        return signed if signed is not None and self._holds(signed, run) else None

    def _holds(self, signed: Signed, run: Acting) -> bool:
        try:
            found = self._keys.verify("identity", signed, Delegation)
        except BadSignature:
            return False
        bound = (found.owner, found.card_id, found.instruction_hash) == (run.owner, run.card_id, run.instruction_hash)
        return bound and found.audience == AUDIENCE and found.issued_at <= now() < found.expires_at
