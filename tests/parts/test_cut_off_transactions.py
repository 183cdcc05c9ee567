"""Whoever is cut off in a transaction, as a page is whose reader has gone, leaves no connection in it for the next one."""

import anyio
import pytest

from shared.db import Database
from shared.testing.servers import Servers

pytestmark = pytest.mark.timeout(60)


async def test_a_transaction_that_was_cut_off_is_over_for_everybody(postgres: Servers) -> None:
    db = Database(postgres.settings("site"), pool_size=2)
    await db.start()
    try:
        for statement in ("SELECT pg_sleep(5)", "SELECT 1"):
            for _ in range(6):
                with anyio.move_on_after(0.02):
                    async with db.transaction() as tx:
                        await tx.raw.execute(statement)
                        await anyio.sleep(5)
                async with db.transaction() as tx:
                    assert await tx.raw.fetchval("SELECT 1") == 1
                async with db.reading() as tx:
                    assert not tx.raw.is_in_transaction()
    finally:
        await db.stop()
