"""What the lock believes of the fingerprints that it keeps: the newest whole set, of the present key, not older than three hours (S14)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from schemas.connectors.v1 import FingerprintsTaken
from services.bridge.inspection import Known, Shelf
from services.bridge.inspection.known import PATIENCE
from services.bridge.usecases.keep_fingerprints import keep_fingerprints
from services.connectors.fingerprints.domain import canary, fingerprints
from shared.clock import now
from shared.errors import Transient
from shared.fingerprints import FingerprintKey
from shared.health import Health
from shared.testing.servers import Servers
from tests.factories.fingerprints import VALUE
from tests.services.bridge.conftest import Lock, received


@pytest.fixture
async def shelf(lock: Lock, servers: Servers) -> AsyncIterator[Shelf]:
    """Empty, and long after its start."""
    async with lock.db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.fingerprints")
    yield Shelf(lock.db, servers.settings("bridge").keys, Health("bridge"))


def made(key: FingerprintKey, version: int, **changes: Any) -> FingerprintsTaken:
    entries = (canary(key), *fingerprints(VALUE, key))
    taken = FingerprintsTaken(key_id=key.key_id, entries=entries, at=now(), version=version, mac="0" * 64)
    taken = taken.model_copy(update=changes)
    return taken.model_copy(update={"mac": key.mac(taken)})


async def keep(lock: Lock, shelf: Shelf, *parts: FingerprintsTaken) -> None:
    for each in parts:
        await lock.run(keep_fingerprints, received("fingerprints.taken", each, "connectors"), shelf)


async def why(shelf: Shelf) -> str:
    found = await shelf.look()
    return "" if isinstance(found, Known) else found


async def test_the_newest_whole_set_counts(lock: Lock, shelf: Shelf) -> None:
    key = shelf.key()
    assert "no complete set" in await why(shelf)
    await keep(lock, shelf, made(key, 1))
    assert await why(shelf) == ""
    at = now()
    first, second = (made(key, 2, part=part, parts=2, at=at) for part in (1, 2))
    await keep(lock, shelf, first)
    before = await shelf.look()
    assert isinstance(before, Known) and len(before.entries) == len(first.entries), "half of the next one is not there"
    await keep(lock, shelf, second)
    after = await shelf.look()
    assert isinstance(after, Known) and len(after.entries) == 2 * len(first.entries)
    assert [row["version"] for row in await lock.rows("SELECT version FROM app.fingerprints")] == [2, 2]


async def test_what_another_key_made_is_not_kept(lock: Lock, shelf: Shelf) -> None:
    await keep(lock, shelf, made(FingerprintKey(bytes(32)), 7), made(shelf.key(), 8).model_copy(update={"entries": ()}))
    assert await lock.rows("SELECT 1 FROM app.fingerprints") == []
    crossed = await lock.rows(
        "SELECT verdict FROM core.crossings WHERE type = 'fingerprints.taken' ORDER BY position DESC LIMIT 2"
    )
    assert [row["verdict"] for row in crossed] == ["refused", "refused"]


async def test_an_old_set_does_not_count(lock: Lock, shelf: Shelf) -> None:
    await keep(lock, shelf, made(shelf.key(), 1, at=now() - timedelta(hours=2, minutes=59)))
    assert await why(shelf) == ""
    await keep(lock, shelf, made(shelf.key(), 2, at=now() - timedelta(hours=3, seconds=1)))
    assert "older than 3 hours" in await why(shelf)


async def test_an_earlier_set_in_the_place_of_a_later_one_does_not_count(lock: Lock, shelf: Shelf) -> None:
    await keep(lock, shelf, made(shelf.key(), 1))
    await keep(lock, shelf, made(shelf.key(), 2))
    assert await why(shelf) == ""
    async with lock.db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.fingerprints")
    await keep(lock, shelf, made(shelf.key(), 1))
    assert "in the place of a later one" in await why(shelf)


async def test_a_set_without_the_value_that_every_set_holds_does_not_count(lock: Lock, shelf: Shelf) -> None:
    await keep(lock, shelf, made(shelf.key(), 1, entries=()))
    assert "lacks the value" in await why(shelf)


async def test_after_a_start_the_lock_waits_and_later_it_does_not(
    lock: Lock, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.bridge.inspection.known.PATIENCE", 0.3)
    assert PATIENCE > 0.3
    assert isinstance(await shelf.current(), str), "it has no start behind it: nothing to wait for"
    await shelf.start()
    try:
        with pytest.raises(Transient, match="waits for the connectors"):
            await shelf.current()
        await keep(lock, shelf, made(shelf.key(), 1))
        assert isinstance(await shelf.current(), Known)
    finally:
        await shelf.stop()
