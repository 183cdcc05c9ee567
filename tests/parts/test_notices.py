"""News between instances of a service, through a real database."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from shared.db.engine import Database
from shared.db.notices import Notices
from shared.testing.servers import Servers


class Instance:
    """One process's ear and mouth."""

    def __init__(self, servers: Servers, *, several: bool = True) -> None:
        self.db = Database(servers.settings("console"), pool_size=2)
        self.notices, self.heard = Notices(self.db, several=several), asyncio.Queue[object]()
        self.notices.on("news", self.heard.put_nowait)

    async def start(self) -> None:
        await self.db.start()
        await self.notices.start()

    async def stop(self) -> None:
        await self.notices.stop()
        await self.db.stop()

    async def next(self) -> object:
        return await asyncio.wait_for(self.heard.get(), 10)


@pytest.fixture
async def pair(servers: Servers) -> AsyncIterator[tuple[Instance, Instance]]:
    both = Instance(servers), Instance(servers)
    for each in both:
        await each.start()
        assert await each.next() is None, "whoever begins to listen may have missed something"
    yield both
    for each in both:
        await each.stop()


async def test_what_one_tells_the_other_hears_once_and_itself_never(pair: tuple[Instance, Instance]) -> None:
    one, other = pair
    for number in (1, 2, 2, 3):
        one.notices.tell("news", number)
    assert [await other.next() for _ in range(3)] == [1, 2, 3]
    other.notices.tell("news", 4)
    assert await one.next() == 4
    assert one.heard.empty()
    assert other.heard.empty()


async def test_whoever_lost_the_connection_looks_again(pair: tuple[Instance, Instance], servers: Servers) -> None:
    one, other = pair
    async with one.db.reading() as tx:
        await tx.raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND usename = current_user"
        )
    assert await other.next() is None
    one.notices.tell("news", 5)
    assert await other.next() == 5


async def test_a_service_of_one_instance_keeps_to_itself(servers: Servers) -> None:
    alone = Instance(servers, several=False)
    await alone.start()
    alone.notices.tell("news", 1)
    async with alone.db.reading() as tx:
        assert await tx.raw.fetchval("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == 0
    await alone.stop()
