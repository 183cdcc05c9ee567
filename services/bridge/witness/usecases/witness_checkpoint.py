"""Countersign a checkpoint of the call audit, keep it, and tell the connectors and the console (rule 17)."""

from schemas.bridge.v1 import CheckpointCountersigned
from schemas.connectors.v1 import CheckpointSigned
from schemas.outward import Checkpoint, Witness
from services.bridge.usecases.record_crossings import Step
from services.bridge.witness import store
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import Permanent
from shared.signing import PublicKeys, SigningKey


async def witness_checkpoint(tx: Tx, event: Received[CheckpointSigned], keys: PublicKeys, key: SigningKey) -> None:
    """BadSignature, or Permanent for what contradicts an earlier checkpoint or an entry that crossed: parked, never countersigned."""
    signed, step = event.data.checkpoint, Step(tx, event)
    checkpoint = keys.verify("audit", signed, Checkpoint)
    await store.lock_checkpoints(tx)
    known = await store.root_at(tx, checkpoint.size)
    fault = await _contradiction(tx, checkpoint, known)
    if fault:
        raise Permanent(
            f"a checkpoint of the call audit over {checkpoint.size} entries contradicts the lock: {fault}. It is not countersigned;"
            " `schleuse audit verify` names the first bad entry.",
            code="audit_contradiction",
        )
    if known is None:
        witness = key.sign(
            Witness(
                key_id=key.key_id, checkpoint_hash=signed.hash, size=checkpoint.size, root=checkpoint.root, at=now()
            )
        )
        await store.add_checkpoint(tx, checkpoint, signed, witness)
        for reader in ("connectors", "console"):
            fact = CheckpointCountersigned(checkpoint=signed, witness=witness)
            step.tell("checkpoint.countersigned", fact, key="call_audit", version=checkpoint.size, to=reader)
    await step.done(signature=signed.signature)


async def _contradiction(tx: Tx, checkpoint: Checkpoint, known: str | None) -> str:
    if known is not None:
        return "" if known == checkpoint.root else "an earlier one over as many states another hash"
    crossed = await store.crossed_hash(tx, checkpoint.size - 1)
    if crossed is not None and crossed != checkpoint.root:
        return f"entry {checkpoint.size - 1} crossed with another hash"
    newest = await store.newest_size(tx)
    if crossed is None and checkpoint.size < newest:
        return f"one over {newest} entries came before, so the audit has become shorter"
    return ""
