"""The lock's answer to a change of a decision key. What follows from it is `finish_rotation`'s."""

from schemas.bridge.v1 import DecisionRefused, KeyApplied
from services.console.keys import store
from shared.db import Tx


async def record_key(tx: Tx, applied: KeyApplied) -> None:
    if applied.action == "added":
        await store.settle(tx, applied.statement_hash, "offered", "recorded")
    else:
        await store.settle(tx, applied.statement_hash, "revoking", "revoked")


async def record_key_refused(tx: Tx, refused: DecisionRefused) -> bool:
    """Whether it was about a key. One that could not be revoked goes on counting."""
    offered = await store.settle(tx, refused.statement_hash, "offered", "refused", refused.reason)
    revoking = await store.settle(tx, refused.statement_hash, "revoking", "recorded", refused.reason)
    return bool(offered + revoking)
