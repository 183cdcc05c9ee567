"""Sign how long the audit is and what its newest entry hashes to, keep it, and send it to the lock (rule 17)."""

from schemas.connectors.v1 import CheckpointSigned
from schemas.outward import Checkpoint
from services.connectors.audit import store
from shared.clock import now
from shared.db import Tx
from shared.errors import Permanent
from shared.signing import SigningKey


async def sign_checkpoint(tx: Tx, key: SigningKey) -> int | None:
    """The size of the newest checkpoint; None when another instance is signing one.

    Permanent when the audit contradicts what was signed before: then nothing is signed, so that the contradiction stays one.
    """
    if not await store.may_sign(tx):
        return None
    last, head = await store.newest_checkpoint(tx), await store.read_head(tx)
    size, before = head.seq + 1, 0 if last is None else int(last["size"])
    if last is not None and await store.hash_at(tx, before - 1) != last["root"]:
        raise Permanent(
            f"the call audit is not what its checkpoint over {before} entries says; `schleuse audit verify` names the first bad entry",
            code="audit_contradiction",
        )
    if size == before:
        return before
    checkpoint = Checkpoint(key_id=key.key_id, size=size, root=head.hash, at=now())
    signed = key.sign(checkpoint)
    await store.add_checkpoint(tx, checkpoint, signed)
    tx.stage("checkpoint.signed", CheckpointSigned(checkpoint=signed), key="call_audit", version=size)
    return size
