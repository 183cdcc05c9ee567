"""The console says that the agent may act for an automation, for half a day (S10)."""

from schemas.outward import Delegation
from schemas.statements import Signed
from services.agent.automations import store
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys

AUDIENCE = "agent"


async def keep_delegation(tx: Tx, keys: PublicKeys, signed: Signed) -> bool:
    """False when it is a person's own, which others keep. BadSignature for what is not for us, or names a card without an instruction."""
    found = keys.verify("identity", signed, Delegation)
    if found.card_id is None and found.instruction_hash is None:
        return False
    if found.audience != AUDIENCE or found.owner.kind != "user":
        raise BadSignature(f"the delegation is for {found.audience} and {found.owner.kind}, not for the agent and a person")  # fmt: skip
    if found.card_id is None or found.instruction_hash is None:
        raise BadSignature("an automation's delegation names its card and the hash of its instruction")
    async with tx.acting_for(found.owner):
        await store.keep_delegation(tx, found, signed)
    return True
