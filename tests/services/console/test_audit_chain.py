"""The console recomputes its copy of the call audit as it comes; on the page stands how far it holds, and what is wrong."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.bridge.v1 import CheckpointCountersigned
from schemas.connectors import v1, v2
from schemas.outward import Checkpoint, Witness
from schemas.text import canonical, sha256
from services.console.audit import store
from services.console.audit.chain import views as chain_views
from services.console.audit.domain import FIELDS_BEFORE, Head, follow, hash_of
from services.console.audit.usecases.check_chain import check_some
from services.console.audit.usecases.record_calls import record_calls
from services.console.audit.usecases.record_checkpoint import record_checkpoint
from services.console.audit.usecases.verify_copy import verify_copy
from services.console.schema import app
from shared.clock import now
from shared.db import create_missing
from shared.errors import BadSignature, Permanent
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from tests.services.console.conftest import Desk

PAST = timedelta(hours=1)


def chained(length: int, *, first_version: int = 0) -> list[v1.CallAudited | v2.CallAudited]:
    """Entries as the connectors write them; the first ones in the first version."""
    found: list[v1.CallAudited | v2.CallAudited] = []
    before = "0" * 64
    for seq in range(length):
        said: dict[str, Any] = {
            "entry_id": uuid4(), "seq": seq, "at": now() - PAST, "asker": "agent", "connector": "llm", "operation": "chat",
            "target": f"{seq}.example", "outcome": "ok",
        }  # fmt: skip
        if seq < first_version:
            entry: Any = v1.CallAudited(**said)
            before = sha256(canonical(entry.model_dump(mode="json") | {"previous": before}))
        else:
            made = v2.CallAudited(**said, call_id=uuid4(), hash="0" * 64).model_dump(mode="json")
            made.pop("hash")
            before = sha256(canonical(made | {"previous": before}))
            entry = v2.CallAudited.model_validate(made | {"hash": before})
        found.append(entry)
    return found


def row(entry: v1.CallAudited | v2.CallAudited) -> dict[str, Any]:
    return {"hash": None} | entry.model_dump()


def test_a_copy_of_both_versions_is_recomputed_to_the_same_hashes() -> None:
    entries, head = chained(6, first_version=3), Head()
    for each in entries:
        following = follow(head, row(each), now())
        assert isinstance(following, Head), following
        head = following
    assert head == Head(5, entries[-1].hash)  # type: ignore[union-attr]
    assert set(FIELDS_BEFORE) < set(row(entries[0]))


def test_what_is_not_the_next_entry_is_named_and_what_is_late_is_waited_for() -> None:
    one, two, three = (row(each) for each in chained(3))
    head = Head(0, hash_of(one, "0" * 64))
    assert "is missing here" in str(follow(head, three, now()))
    assert follow(head, three, three["at"]) is None, "it has just been written; the one before it is on its way"
    assert "twice" in str(follow(head, one, now()))
    assert "not what its hash says" in str(follow(head, two | {"status": "x"}, now()))
    assert "not what its hash says" in str(follow(Head(0, "a" * 64), two, now()))


@pytest.fixture
def signer(servers: Servers) -> tuple[PublicKeys, SigningKey, SigningKey]:
    keys = servers.state / "keys"
    audit, witness = (SigningKey.load(keys / service / name) for service, name in (("connectors", "audit.key"), ("bridge", "witness.key")))  # fmt: skip
    return PublicKeys.load(keys / "public.json"), audit, witness


def countersigned(audit: SigningKey, witness: SigningKey, size: int, root: str) -> CheckpointCountersigned:
    signed = audit.sign(Checkpoint(key_id=audit.key_id, size=size, root=root, at=now()))
    said = Witness(key_id=witness.key_id, checkpoint_hash=signed.hash, size=size, root=root, at=now())
    return CheckpointCountersigned(checkpoint=signed, witness=witness.sign(said))


async def test_the_copy_is_followed_checked_against_checkpoints_and_begun_afresh(
    desk: Desk, signer: tuple[PublicKeys, SigningKey, SigningKey]
) -> None:
    keys, audit, witness = signer
    entries = chained(8, first_version=2)
    async with desk.db.transaction() as tx:
        for table in ("calls", "audit_checkpoints", "audit_chain"):
            await tx.raw.execute(f"DELETE FROM app.{table}")
        await store.begin_chain(tx)
        await record_calls(tx, entries)
        await record_checkpoint(tx, countersigned(audit, witness, 5, entries[4].hash), keys)  # type: ignore[union-attr]
    async with desk.db.transaction() as tx:
        assert await check_some(tx, keys) == (False, [])
        state = await chain_views.chain(tx)
    assert state is not None and (state["seq"], state["first_bad"], state["checkpoint"], state["newest"]) == (
        7,
        None,
        5,
        7,
    )
    async with desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.calls SET detail = 'nothing' WHERE seq = 6")
        await store.check_afresh(tx)
        more, told = await check_some(tx, keys)
        assert not more and {each.text.partition(":")[0] for each in told} <= {"The call audit is broken at entry 6"}
        assert len(told) == await tx.raw.fetchval(
            "SELECT count(*) FROM app.notices WHERE kind = 'audit' AND text LIKE '%entry 6:%'"
        )
        state = await chain_views.chain(tx)
    assert state is not None and state["first_bad"] == 6 and "not what its hash says" in state["reason"]
    found = await verify_copy(desk.db, keys)
    assert (found["ok"], found["first_bad"], found["entries"]) == (False, 6, 6)
    async with desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.audit_checkpoints SET root = repeat('b', 64)")
    assert (await verify_copy(desk.db, keys))["first_bad"] == 4
    async with desk.db.transaction() as tx:
        for table in ("calls", "audit_checkpoints", "audit_chain"):
            await tx.raw.execute(f"DELETE FROM app.{table}")


async def test_a_checkpoint_that_was_not_signed_by_both_or_contradicts_one_is_not_taken(
    desk: Desk, signer: tuple[PublicKeys, SigningKey, SigningKey]
) -> None:
    keys, audit, witness = signer
    size, root = 10**9, sha256(b"root")
    forged = countersigned(witness, audit, size, root)
    other = countersigned(audit, witness, size, sha256(b"other"))
    mixed = CheckpointCountersigned(
        checkpoint=countersigned(audit, witness, size, root).checkpoint, witness=other.witness
    )
    for wrong in (forged, mixed):
        with pytest.raises(BadSignature):
            async with desk.db.transaction() as tx:
                await record_checkpoint(tx, wrong, keys)
    with pytest.raises(Permanent, match="contradict each other"):
        async with desk.db.transaction() as tx:
            await record_checkpoint(tx, countersigned(audit, witness, size, root), keys)
            await record_checkpoint(tx, other, keys)
    assert json.loads(other.checkpoint.payload)["size"] == size


OLD_TABLE = """
DELETE FROM app.calls;
ALTER TABLE app.calls DROP COLUMN words, DROP COLUMN secret, DROP COLUMN detail, DROP COLUMN call_id, DROP COLUMN tokens_in, DROP COLUMN tokens_out,
  DROP COLUMN hash, ALTER COLUMN duration_ms SET NOT NULL, ALTER COLUMN bytes_out SET NOT NULL, ALTER COLUMN bytes_in SET NOT NULL"""


async def test_the_table_of_an_earlier_release_takes_entries_whose_figures_are_unknown(desk: Desk) -> None:
    """Unknown is never zero (rule 30): what every row had to say may be left open from now on."""
    async with desk.db.transaction() as tx:
        await tx.raw.execute(OLD_TABLE)
    added = await create_missing(desk.db, app)
    assert "ALTER TABLE app.calls ALTER COLUMN duration_ms DROP NOT NULL" in added
    assert await create_missing(desk.db, app) == [], "once is enough"
    entries = chained(2, first_version=1)
    async with desk.db.transaction() as tx:
        await record_calls(tx, entries)
        rows = await tx.raw.fetch("SELECT duration_ms, words FROM app.calls ORDER BY seq")
        await tx.raw.execute("DELETE FROM app.calls")
    assert [row["duration_ms"] for row in rows] == [0, None] and "1.example" in rows[1]["words"]
