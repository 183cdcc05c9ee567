"""The lock countersigns checkpoints of the call audit that contradict nothing it has seen, and keeps them."""

import secrets
from typing import Any

import pytest

from schemas.connectors.v1 import CheckpointSigned
from schemas.connectors.v2 import CallAudited
from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from services.bridge.usecases.forward_event import forward_events
from services.bridge.witness.operator import WitnessDesk
from services.bridge.witness.usecases.witness_checkpoint import witness_checkpoint
from shared.clock import now
from shared.errors import BadSignature, Permanent
from shared.ids import new_id
from shared.signing import SigningKey
from shared.testing.servers import Servers
from tests.services.bridge.conftest import Lock, names, received


@pytest.fixture
def keys(servers: Servers) -> tuple[SigningKey, SigningKey]:
    """(audit, witness)"""
    state = servers.state / "keys"
    return SigningKey.load(state / "connectors" / "audit.key"), SigningKey.load(state / "bridge" / "witness.key")


@pytest.fixture
async def size(lock: Lock) -> int:
    """Beyond all that other tests used."""
    [row] = await lock.rows("SELECT coalesce(max(size), 0) AS size FROM core.audit_checkpoints")
    return int(row["size"]) + 10_000


def checkpoint(key: SigningKey, size: int, root: str = "") -> Signed:
    return key.sign(Checkpoint(key_id=key.key_id, size=size, root=root or secrets.token_hex(32), at=now()))


async def witness(lock: Lock, signed: Signed, key: SigningKey) -> list[dict[str, Any]]:
    event = received("checkpoint.signed", CheckpointSigned(checkpoint=signed), "connectors")
    return await lock.run(witness_checkpoint, event, lock.public, key)


async def test_a_checkpoint_is_countersigned_kept_and_told_to_both(
    lock: Lock, keys: tuple[SigningKey, SigningKey], size: int
) -> None:
    signed = checkpoint(keys[0], size)
    told = await witness(lock, signed, keys[1])
    assert names(told) == ["checkpoint.countersigned>connectors", "checkpoint.countersigned>console"]
    seen = lock.public.verify("witness", Signed.model_validate(told[0]["data"]["witness"]), Witness)
    assert (seen.checkpoint_hash, seen.size) == (signed.hash, size)
    assert await witness(lock, signed, keys[1]) == [], "the same again is nothing new"
    found = await WitnessDesk(lock.db, lock.public).checkpoints({"after": size - 1})
    assert [row[2] for row in found["checkpoints"]] == [signed.hash]
    assert found["faults"] == []


async def test_a_checkpoint_that_contradicts_an_earlier_one_is_parked(
    lock: Lock, keys: tuple[SigningKey, SigningKey], size: int
) -> None:
    await witness(lock, checkpoint(keys[0], size), keys[1])
    with pytest.raises(Permanent, match="another hash"):
        await witness(lock, checkpoint(keys[0], size), keys[1])
    with pytest.raises(Permanent, match="has become shorter"):
        await witness(lock, checkpoint(keys[0], size - 5), keys[1])
    with pytest.raises(BadSignature):
        await witness(lock, checkpoint(keys[1], size + 5), keys[1])


async def test_a_checkpoint_that_contradicts_an_entry_that_crossed_is_parked(
    lock: Lock, keys: tuple[SigningKey, SigningKey], size: int
) -> None:
    entry = CallAudited(
        entry_id=new_id(), seq=size - 1, at=now(), call_id=new_id(), asker="agent", operation="o", outcome="ok", hash=secrets.token_hex(32)
    )  # fmt: skip
    event = received("call.audited", entry, "connectors", key="call_audit", version=entry.seq)
    assert names(await lock.run(forward_events, [event])) == ["call.audited>console"]
    with pytest.raises(Permanent, match=f"entry {size - 1} crossed with another hash"):
        await witness(lock, checkpoint(keys[0], size), keys[1])
    await witness(lock, checkpoint(keys[0], size, entry.hash), keys[1])
    found = await WitnessDesk(lock.db, lock.public).hashes({"block": (size - 1) // 1000})
    assert [size - 1, entry.hash] in [list(row) for row in found["hashes"]]
