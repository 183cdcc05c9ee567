"""The lock has countersigned a checkpoint: its word is kept beside ours."""

from schemas.bridge.v1 import CheckpointCountersigned
from schemas.outward import Checkpoint, Witness
from services.connectors.audit import store
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature, Permanent
from shared.signing import PublicKeys


async def record_witness(tx: Tx, event: Received[CheckpointCountersigned], keys: PublicKeys) -> None:
    """BadSignature parks what the lock or we did not sign; Permanent what is about a checkpoint that we do not have."""
    signed = event.data.checkpoint
    checkpoint = keys.verify("audit", signed, Checkpoint)
    witness = keys.verify("witness", event.data.witness, Witness)
    if (witness.checkpoint_hash, witness.size, witness.root) != (signed.hash, checkpoint.size, checkpoint.root):
        raise BadSignature("the lock's witness is about another checkpoint")
    if not await store.has_checkpoint(tx, signed.hash):
        raise Permanent(
            f"the lock countersigned a checkpoint over {checkpoint.size} entries that is not kept here; this database is older than"
            " what it signed. `schleuse audit verify` says more.",
            code="audit_contradiction",
        )
    await store.add_witness(tx, signed.hash, event.data.witness)
