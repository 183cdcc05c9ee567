"""A checkpoint of the call audit, signed by the connectors and countersigned by the lock: both are verified here once more."""

from schemas.bridge.v1 import CheckpointCountersigned
from schemas.outward import Checkpoint, Witness
from services.console.audit import store
from shared.db import Tx
from shared.errors import BadSignature, Permanent
from shared.signing import PublicKeys


async def record_checkpoint(tx: Tx, data: CheckpointCountersigned, keys: PublicKeys) -> None:
    """BadSignature, or Permanent for one that contradicts another: parked, for a person to look at."""
    checkpoint = keys.verify("audit", data.checkpoint, Checkpoint)
    witness = keys.verify("witness", data.witness, Witness)
    said = (data.checkpoint.hash, checkpoint.size, checkpoint.root)
    if (witness.checkpoint_hash, witness.size, witness.root) != said:
        raise BadSignature("the lock's witness is about another checkpoint")
    kept = await store.add_checkpoint(tx, checkpoint, data.checkpoint, data.witness)
    if kept != data.checkpoint.hash:
        raise Permanent(
            f"two checkpoints of the call audit over {checkpoint.size} entries contradict each other; `schleuse audit verify` says more",
            code="audit_contradiction",
        )
