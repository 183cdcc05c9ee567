"""A decision key is replaced and revoked: at every step exactly one key signs, whatever dies in between."""

import asyncio
import base64
import json
import secrets
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from schemas.bridge.v1 import DecisionRefused, KeyApplied
from schemas.model import Actor
from schemas.statements import KeyChange, Signed
from services.console.keys import store
from services.console.keys.keeper import KeyKeeper
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.record_key import record_key, record_key_refused
from services.console.keys.usecases.revoke_key import revoke_key
from services.console.keys.usecases.rotate_key import rotate_key
from services.console.live import Live
from services.console.people.domain import OPERATOR
from services.console.tables import app
from shared.clock import now
from shared.db import Database, create_missing
from shared.errors import Conflict, Forbidden, NotFound, Refused, Transient
from shared.health import Health
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from tests.services.console.conftest import MARA


class Seen(Health):
    """Health that can be waited for."""

    def __init__(self) -> None:
        super().__init__("console")
        self.told = asyncio.Event()

    def set(self, name: str, ok: bool, detail: str = "") -> None:
        super().set(name, ok, detail)
        self.told.set()


@dataclass
class Keys:
    """A console's keys in a folder and a database of their own. `ring` is what the running process has in hand."""

    db: Database
    folder: Path
    ring: KeyRing = field(init=False)

    def __post_init__(self) -> None:
        self.ring = KeyRing(self.folder)

    async def restart(self) -> None:
        """A new process: nothing but files and rows is left of the old one; it takes the step that is due."""
        self.ring, health = KeyRing(self.folder), Seen()
        keeper = KeyKeeper(self.db, self.ring, Live(), health)
        await keeper.start()
        await asyncio.wait_for(health.told.wait(), 10)
        await keeper.stop()

    async def rotate(self, **more: Any) -> str:
        async with self.db.transaction() as tx:
            return await rotate_key(tx, self.ring, OPERATOR, **more)

    async def revoke(self, key_id: str, caller: Any = OPERATOR) -> None:
        async with self.db.transaction() as tx:
            await revoke_key(tx, self.ring, caller, key_id)

    async def signing(self) -> str:
        """The key that signs; its file must be there."""
        async with self.db.transaction() as tx:
            return (await self.ring.signing(tx)).key_id

    async def states(self) -> dict[str, str]:
        async with self.db.reading() as tx:
            return {each.key_id: each.state for each in await store.keys(tx)}

    async def asked(self) -> tuple[Signed, KeyChange]:
        """The newest change that was staged, verified with the key that it names."""
        async with self.db.reading() as tx:
            body = await tx.raw.fetchval(
                "SELECT body FROM app.outbox WHERE name = 'key.changed' ORDER BY position DESC LIMIT 1"
            )
            known = {each.key_id: base64.b64decode(each.public_key) for each in await store.keys(tx)}
        told = json.loads(body)["data"]["statement"]
        signed = Signed(payload=base64.b64decode(told["payload"]), signature=base64.b64decode(told["signature"]), key_id=told["key_id"])  # fmt: skip
        return signed, PublicKeys({"decision": known}).verify("decision", signed, KeyChange)

    async def lock_records(self) -> None:
        signed, change = await self.asked()
        by = Actor(id="operator", name="Operator", via="operator")
        applied = KeyApplied(action=change.action, key_id=change.subject_key_id, statement_hash=signed.hash, gate_seq=3, by=by, reason="", at=now())  # fmt: skip
        async with self.db.transaction() as tx:
            await record_key(tx, applied)

    async def lock_refuses(self) -> None:
        signed, _ = await self.asked()
        async with self.db.transaction() as tx:
            refused = DecisionRefused(statement_hash=signed.hash, code="invalid", reason="not today", at=now())
            assert await record_key_refused(tx, refused)

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
async def keys(servers: Servers, tmp_path: Path) -> AsyncIterator[Keys]:
    db = Database(servers.settings("console"), pool_size=4)
    await db.start()
    await create_missing(db, app)
    (tmp_path / "decision.key").write_bytes(base64.b64encode(secrets.token_bytes(32)))
    found = Keys(db, tmp_path)
    await _forget(db)
    await found.restart()
    yield found
    await _forget(db)
    await db.stop()


async def _forget(db: Database) -> None:
    async with db.transaction() as tx:
        for table in ("todo", "signing", "decision_keys"):
            await tx.raw.execute(f"DELETE FROM app.{table}")


def first(keys: Keys) -> str:
    return SigningKey.load(keys.folder / "decision.key").key_id


async def test_the_installations_key_signs_first(keys: Keys) -> None:
    assert await keys.signing() == first(keys)
    await keys.restart()
    assert await keys.states() == {first(keys): "recorded"}


async def test_the_new_key_signs_only_once_the_lock_has_recorded_it(keys: Keys) -> None:
    new = await keys.rotate()
    _, change = await keys.asked()
    assert (change.action, change.key_id, change.subject_key_id) == ("added", first(keys), new)
    await keys.restart()
    assert await keys.signing() == first(keys)
    await keys.lock_records()
    assert await keys.signing() == first(keys), "killed before the step that follows"
    await keys.restart()
    assert await keys.signing() == new
    assert await keys.states() == {first(keys): "recorded", new: "recorded"}


async def test_the_new_file_is_the_consoles_alone(keys: Keys) -> None:
    new = await keys.rotate()
    path = keys.folder / f"decision-{new}.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load(path).key_id == new
    assert keys.files() == {"decision.key", path.name}


async def test_a_rotation_that_was_not_committed_never_was(keys: Keys) -> None:
    with pytest.raises(RuntimeError):
        async with keys.db.transaction() as tx:
            await rotate_key(tx, keys.ring, OPERATOR)
            raise RuntimeError("killed")
    await keys.restart()
    assert await keys.signing() == first(keys)
    assert await keys.states() == {first(keys): "recorded"}
    await keys.rotate()


async def test_the_old_key_is_revoked_by_the_new_one_and_its_file_deleted(keys: Keys) -> None:
    old, new = first(keys), await keys.rotate(revoke_old=True)
    await keys.lock_records()
    await keys.restart()
    _, change = await keys.asked()
    assert (change.action, change.key_id, change.subject_key_id) == ("revoked", new, old)
    assert "decision.key" in keys.files(), "until the lock has recorded it"
    await keys.lock_records()
    await keys.restart()
    assert keys.files() == {f"decision-{new}.key"}
    assert await keys.states() == {old: "revoked", new: "recorded"}
    assert await keys.signing() == new
    await keys.restart()
    assert await keys.signing() == new


async def test_a_refused_key_never_signs_and_leaves_nothing(keys: Keys) -> None:
    new = await keys.rotate(revoke_old=True)
    await keys.lock_refuses()
    await keys.restart()
    assert (await keys.signing(), keys.files()) == (first(keys), {"decision.key"})
    assert await keys.states() == {first(keys): "recorded", new: "refused"}
    await keys.rotate()


async def test_a_refused_revocation_changes_nothing(keys: Keys) -> None:
    old, new = first(keys), await keys.rotate()
    await keys.lock_records()
    await keys.restart()
    await keys.revoke(old)
    await keys.lock_refuses()
    await keys.restart()
    assert await keys.states() == {old: "recorded", new: "recorded"}
    assert "decision.key" in keys.files()
    await keys.revoke(old)


async def test_what_cannot_be_revoked_or_rotated_now(keys: Keys) -> None:
    with pytest.raises(Refused, match="rotate first"):
        await keys.revoke(first(keys))
    with pytest.raises(NotFound):
        await keys.revoke("0" * 16)
    with pytest.raises(Forbidden):
        await keys.revoke(first(keys), MARA)
    new = await keys.rotate()
    with pytest.raises(Conflict, match="waits for the lock"):
        await keys.rotate()
    with pytest.raises(Conflict, match="signs next"):
        await keys.revoke(new)
    await keys.lock_records()
    await keys.restart()
    await keys.revoke(first(keys))
    with pytest.raises(Conflict, match="already"):
        await keys.revoke(first(keys))


async def test_who_signs_is_waited_for_before_the_keys_change(keys: Keys) -> None:
    """So that what the old key signed comes to the lock before its revocation."""
    new = await keys.rotate(revoke_old=True)
    await keys.lock_records()
    async with keys.db.transaction() as tx:
        signer = await keys.ring.signing(tx)
        moving = asyncio.create_task(keys.restart())
        async with keys.db.reading() as other:
            for _ in range(1000):
                if await other.raw.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                    break
                await asyncio.sleep(0.01)
        assert signer.key_id == first(keys)
        assert not moving.done()
    await moving
    assert await keys.signing() == new


async def test_a_missing_file_is_said_and_no_other_key_steps_in(keys: Keys) -> None:
    new = await keys.rotate()
    await keys.lock_records()
    await keys.restart()
    (keys.folder / f"decision-{new}.key").unlink()
    await keys.restart()
    with pytest.raises(Transient, match=new):
        await keys.signing()
