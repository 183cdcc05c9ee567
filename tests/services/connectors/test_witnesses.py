"""The lock's word for a checkpoint comes back, as checkpoint.countersigned, and is kept beside it; nobody else's is."""

from typing import Any
from uuid import uuid4

import pytest

from schemas.bridge.v1 import CheckpointCountersigned
from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.record_witness import record_witness
from services.connectors.audit.usecases.sign_checkpoint import sign_checkpoint
from services.connectors.audit.usecases.verify_audit import verify_audit
from shared.bus import Received
from shared.clock import now
from shared.errors import BadSignature, Permanent
from shared.signing import PublicKeys, SigningKey
from tests.services.connectors.conftest import Office


async def test_a_countersignature_is_kept_when_it_is_the_locks_and_about_a_checkpoint_of_ours(office: Office) -> None:
    keys = PublicKeys.load(office.settings.public_keys)
    audit = SigningKey.load(office.settings.keys / "audit.key")
    witness = SigningKey.load(office.settings.state / "keys" / "bridge" / "witness.key")
    async with office.db.transaction() as tx:
        await record_notes(tx, [Note(uuid4(), "agent", "chat", "ok")])
        size = await sign_checkpoint(tx, audit)
    [row] = await office.rows("SELECT * FROM core.checkpoints ORDER BY size DESC LIMIT 1")
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    unknown = audit.sign(Checkpoint(key_id=audit.key_id, size=10**9, root="0" * 64, at=now()))

    def countersigned(key: SigningKey, of: Signed, **other: Any) -> Signed:
        said = Checkpoint.from_bytes(of.payload)
        fields = {"checkpoint_hash": of.hash, "size": said.size, "root": said.root, "at": now()} | other
        return key.sign(Witness(key_id=key.key_id, **fields))

    async def take(checkpoint: Signed, word: Signed) -> None:
        data = CheckpointCountersigned(checkpoint=checkpoint, witness=word)
        async with office.db.transaction() as tx:
            await record_witness(tx, Received(data, None, b"", ""), keys)  # type: ignore[arg-type]

    for wrong in (
        countersigned(audit, signed),
        countersigned(witness, signed, size=10**8),
        countersigned(witness, unknown),
    ):
        with pytest.raises(BadSignature):
            await take(signed, wrong)
    with pytest.raises(Permanent, match="is not kept here"):
        await take(unknown, countersigned(witness, unknown))
    before = (await verify_audit(office.db, keys))["checkpoints"]["witnessed"]
    for _ in range(2):
        await take(signed, countersigned(witness, signed))
    found = await verify_audit(office.db, keys)
    assert found["ok"] and found["entries"] >= (size or 0)
    assert found["checkpoints"]["witnessed"] == before + 1
