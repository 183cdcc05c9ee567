"""A site on a real database, with a gate of the test's own. Events go to the declared handlers as delivery calls them."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest

from schemas.catalogue import BY_NAME, to_subject
from schemas.envelope import Envelope
from schemas.model import Data
from services.site.main import Options, Site, assemble
from services.site.tables import app
from shared.bus import Received
from shared.bus.listen import Intake
from shared.clock import now
from shared.db import Database, create_missing
from shared.health import Health
from shared.ids import fresh_id
from shared.testing.servers import Servers
from tests.factories.identity import CONSOLE
from tests.services.site.gatework import Gatework

ORIGIN = "http://127.0.0.1:9301"
INGEST = "an operator's token"
KEPT = ("inbox", "schema_changes")


def received(name: str, data: Data) -> Received[Any]:
    event = BY_NAME[name]
    envelope = Envelope(
        id=fresh_id(),
        source="/bridge",
        type=event.ce_type,
        dataschema=event.schema_name(),
        subject="s",
        time=now(),
        key="k",
        keyversion=1,
        data=data.model_dump(mode="json"),
    )
    return Received(data, envelope, envelope.to_bytes(), to_subject("site", name))


class Living:
    """A running site. `started` ones share the database, like instances of one service."""

    def __init__(self, db: Database, gate: Gatework, mode: str = "open") -> None:
        self.db, self.gate = db, gate
        self.health = Health("site")
        options = Options(ORIGIN, frozenset({"127.0.0.1:9301"}), mode, INGEST, CONSOLE)
        self.site: Site = assemble(db, self.health, gate.keys, options)
        self._handlers = Intake(self.site.intake).handlers
        self.http = self.visitor()

    def visitor(self, client: str = "198.51.100.7", agent: str = "Firefox") -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.site.front, client=(client, 4000))
        return httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers={"user-agent": agent})

    async def hear(self, name: str, *data: Data) -> None:
        """Deliver events in one transaction, as a batch is."""
        async with self.db.transaction() as tx:
            for each in data:
                await self._handlers[name].call(tx, received(name, each))

    async def replay(self, after: int = -1) -> None:
        """The gate sends its entries again, and a fresh head."""
        for name, data in self.gate.log[after + 1 :]:
            await self.hear(name, data)
        await self.greet()

    async def greet(self) -> None:
        await self.hear("head.sealed", self.gate.head(self.site.books.door.nonce))

    async def publish(self, path: str = "tutorial/body", body: str = "Text.", **changed: Any) -> str:
        """Publish and return the URL."""
        data = self.gate.publish(path, body, **changed)
        await self.hear("item.published", data)
        return f"/{changed.get('kind', 'doc')}/{changed.get('lang', 'en')}/{path}"

    async def look(self) -> None:
        """What the watch does every second."""
        await self.site.watch.look()

    async def told(self, name: str) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            rows = await tx.raw.fetch("SELECT body FROM app.outbox WHERE name = $1 ORDER BY position", name)
        return [json.loads(row["body"])["data"] for row in rows]

    async def sql(self, statement: str, *values: Any) -> None:
        """What somebody with the database's password would do."""
        async with self.db.transaction() as tx:
            await tx.raw.execute(statement, *values)

    async def value(self, statement: str, *values: Any) -> Any:
        async with self.db.reading() as tx:
            return await tx.raw.fetchval(statement, *values)


class Sites:
    """Starts sites on one emptied database."""

    def __init__(self, db: Database, stack: AsyncExitStack) -> None:
        self._db, self._stack = db, stack

    async def start(self, gate: Gatework, mode: str = "open") -> Living:
        found = Living(self._db, gate, mode)
        for part in found.site.parts:
            await part.start()
            self._stack.push_async_callback(part.stop)
        await found.http.__aenter__()
        self._stack.push_async_callback(found.http.aclose)
        return found


@pytest.fixture
async def sites(servers: Servers) -> AsyncIterator[Sites]:
    db = Database(servers.settings("site"), pool_size=4)
    await db.start()
    await create_missing(db, app)
    async with db.transaction() as tx:  # DELETE: much quicker than TRUNCATE for the few rows of a test
        for table in app.sorted_tables:
            if table.name not in KEPT:
                await tx.execute(table.delete())
    async with AsyncExitStack() as stack:
        yield Sites(db, stack)
    await db.stop()


@pytest.fixture
async def site(sites: Sites) -> Living:
    """A site that has heard its gate, with nothing published."""
    found = await sites.start(Gatework())
    await found.greet()
    return found
