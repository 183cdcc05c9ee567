"""Whether connectors answer: asked by one instance at a time, told when it is news, and never without an entry in the audit."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from services.connectors.health import store
from services.connectors.health.usecases.record_check import record_check
from services.connectors.tables import app
from shared.clock import now
from shared.db import Database, create_missing
from shared.ids import fresh_id
from shared.testing.servers import Servers

ALWAYS, NEVER = timedelta(0), timedelta(days=365)


@pytest.fixture
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("connectors"), pool_size=6)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await found.stop()


async def claim(db: Database, name: str, declared: str, well: timedelta, ill: timedelta) -> bool:
    at = now()
    async with db.transaction() as tx:
        return await store.claim(tx, name, declared, at, at - well, at - ill)


async def test_of_several_instances_one_asks(db: Database) -> None:
    name = fresh_id().hex
    assert sum(await asyncio.gather(*(claim(db, name, "a", NEVER, NEVER) for _ in range(5)))) == 1
    assert not await claim(db, name, "a", NEVER, NEVER)
    assert sum(await asyncio.gather(*(claim(db, name, "b", NEVER, NEVER) for _ in range(5)))) == 1, "declared anew"


async def test_what_does_not_answer_is_asked_again_sooner(db: Database) -> None:
    name = fresh_id().hex
    for reason in ("", "down"):
        await claim(db, name, "a", ALWAYS, ALWAYS)
        async with db.transaction() as tx:
            await record_check(tx, name, reason, now())
        assert await claim(db, name, "a", NEVER, ALWAYS) is bool(reason)


async def test_only_news_is_told(db: Database) -> None:
    name = fresh_id().hex
    await claim(db, name, "a", ALWAYS, ALWAYS)
    told = []
    for reason in ("", "", "down", "down", "another reason", ""):
        async with db.transaction() as tx:
            told.append(await record_check(tx, name, reason, now()))
    assert told == [True, False, True, False, True, True]
    async with db.reading() as tx:
        rows = await tx.raw.fetch(
            "SELECT keyversion FROM app.outbox WHERE name = 'connector.checked' AND key = $1 ORDER BY position",
            f"health:{name}",
        )
        assert await store.down(tx, [name]) == []
    assert [row["keyversion"] for row in rows] == [1, 2, 3, 4]


async def test_one_that_nobody_claimed_is_not_recorded(db: Database) -> None:
    async with db.transaction() as tx:
        assert not await record_check(tx, fresh_id().hex, "", now())
