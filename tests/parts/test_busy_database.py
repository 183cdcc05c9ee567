"""A statement that the database ends is a failure that may pass, whoever sent it: no service dies of it."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from shared.db import Database
from shared.errors import Away, Transient
from shared.testing.servers import Servers


@pytest.fixture
async def db(servers: Servers) -> AsyncIterator[Database]:
    db = Database(servers.settings("site"), pool_size=2)
    await db.start()
    yield db
    await db.stop()


@pytest.mark.parametrize("raw", [True, False])
async def test_a_statement_that_takes_too_long_may_be_tried_again(db: Database, raw: bool) -> None:
    with pytest.raises(Transient, match="ended a statement") as ended:
        async with db.transaction() as tx:
            await tx.raw.execute("SET LOCAL statement_timeout = '50ms'")
            await (tx.raw.execute("SELECT pg_sleep(5)") if raw else tx.execute(text("SELECT pg_sleep(5)")))
    assert not isinstance(ended.value, Away), "an event whose handler is always too slow is parked in the end"
    async with db.reading() as tx:
        assert await tx.value(text("SELECT 1")) == 1


async def test_two_that_wait_for_each_other_may_try_again(db: Database) -> None:
    async with db.reading() as tx:
        await tx.raw.execute("DROP TABLE IF EXISTS app.busy; CREATE TABLE app.busy AS SELECT 1 AS n")
    with pytest.raises(Transient, match="ended a statement"):
        async with db.transaction() as one:
            await one.raw.execute("LOCK TABLE app.busy")
            async with db.transaction() as other:
                await other.raw.execute("SET LOCAL lock_timeout = '50ms'")
                await other.raw.execute("LOCK TABLE app.busy")
    async with db.reading() as tx:
        await tx.raw.execute("DROP TABLE app.busy")
