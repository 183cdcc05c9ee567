"""The connectors on a real database: what people signed is handed in, what was staged is read back. No bus, no network."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from schemas.catalogue import BY_NAME
from schemas.envelope import Envelope
from schemas.model import Data
from schemas.statements import Signed, Statement
from services.connectors.book.keeper import Keeper
from services.connectors.secrets.vault import Vault
from services.connectors.tables import app
from shared.bus import Received
from shared.clock import now
from shared.db import Database, Tx, create_missing
from shared.db.notices import Notices
from shared.ids import new_id
from shared.sealing import Identity
from shared.settings import Settings
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers

Take = Callable[[Tx, Received[Any], Keeper], Awaitable[None]]


@dataclass
class Office:
    """Where people's signed words arrive. `key` is the installation's decision key."""

    db: Database
    keeper: Keeper
    key: SigningKey
    identity: Identity
    vault: Vault
    settings: Settings

    def signed(self, statement: Statement) -> Signed:
        return self.key.sign(statement.model_copy(update={"key_id": self.key.key_id}))

    async def take(self, name: str, data: Data, use_case: Take) -> list[dict[str, Any]]:
        """What was staged in answer, as envelopes; the book knows it when this returns."""
        schema = BY_NAME[name].schema_name()
        envelope = Envelope(
            id=new_id(), source="/console", type=BY_NAME[name].ce_type, dataschema=schema, subject="s", time=now(), key="k", keyversion=1, data={}
        )  # fmt: skip
        async with self.db.transaction() as tx:
            await use_case(tx, Received(data, envelope, b"", ""), self.keeper)
        await self.keeper.catch_up()
        rows = await self.rows("SELECT body FROM app.outbox ORDER BY position DESC LIMIT 20")
        told = [json.loads(row["body"]) for row in reversed(rows)]
        return [each for each in told if each.get("causationid") == str(envelope.id)]

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(sql, *values)]


@pytest.fixture
async def office(servers: Servers) -> AsyncIterator[Office]:
    settings, console = servers.settings("connectors"), servers.settings("console")
    db = Database(settings, pool_size=4)
    await db.start()
    await create_missing(db, app)
    keeper = Keeper(db, PublicKeys.load(settings.public_keys), Notices(db, several=False))
    await keeper.start()
    identity = Identity.load(settings.keys / "secrets.key")
    key = SigningKey.load(console.keys / "decision.key")
    yield Office(db, keeper, key, identity, Vault(settings.secrets, identity), settings)
    await keeper.stop()
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await db.stop()
