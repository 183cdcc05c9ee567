"""The console says for whom the agent may act, and what it may do for them (S10)."""

from schemas.outward import Delegation
from schemas.statements import Signed
from services.agent.owners import store
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys

AUDIENCE = "agent"


async def record_delegation(tx: Tx, keys: PublicKeys, signed: Signed) -> None:
    """Kept if it is newer than the one that is held. BadSignature for what is not for us, or for a guest: guests have none."""
    found = keys.verify("identity", signed, Delegation)
    if found.audience != AUDIENCE or found.owner.kind != "user":
        raise BadSignature(
            f"the delegation is for {found.audience} and {found.owner.kind}, not for the agent and a person"
        )
    if found.card_id is not None or found.instruction_hash is not None:
        raise BadSignature("the delegation is for an automation, and none of the person's own")
    async with tx.acting_for(found.owner):
        await store.keep_delegation(tx, found, signed)
