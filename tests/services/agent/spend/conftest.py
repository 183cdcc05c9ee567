"""The ledger on a real database. Prices are of an own file, caps are set by the test; nobody publishes what is staged."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from schemas.outward import Owner
from services.agent.spend.domain import Call, Estimate
from services.agent.spend.ledger import Ledger
from services.agent.spend.prices import Prices
from services.agent.spend.usecases.close_open import Knows, nobody_knows
from services.agent.tables import app
from shared.db import Database, create_missing
from shared.ids import fresh_id, new_id
from shared.testing.servers import Servers

PRICES = """
["shop/tenth"]
input = 0
output = 0
call = "0.1"
["shop/token"]
input = "0.04"
output = "0.04"
["shop/big"]
input = "1"
output = "2"
cached = "0.5"
["shop/gift"]
free = true
"""


@dataclass
class Caps:
    """Caps by account; who is not named has `others`."""

    of: dict[Owner, Decimal | None] = field(default_factory=dict)
    others: Decimal | None = Decimal("1.0")

    def cap_of(self, account: Owner) -> Decimal | None:
        return self.of.get(account, self.others)


@dataclass
class Till:
    """A ledger and what a test looks at."""

    db: Database
    caps: Caps
    prices: Prices
    ledger: Ledger

    def other(self, life: float = 600, knows: Knows = nobody_knows) -> Ledger:
        """As another process would have one."""
        return Ledger(self.db, self.caps, self.prices, life=timedelta(seconds=life), knows=knows)

    async def rows(self, owner: Owner, table: str = "usage_ledger") -> list[dict[str, Any]]:
        async with self.db.owned(owner) as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(f"SELECT * FROM core.{table} ORDER BY at, call_id")]

    async def told(self, owner: Owner) -> list[dict[str, Any]]:
        """The rows of this owner that were published."""
        async with self.db.reading() as tx:
            found = await tx.raw.fetch("SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,rows}' AS rows FROM app.outbox WHERE name = 'usage.recorded' ORDER BY position")  # fmt: skip
        import json  # noqa: PLC0415

        rows = [row for each in found for row in json.loads(each["rows"])]
        return [row for row in rows if row["owner"] == owner.model_dump()]


def somebody() -> Owner:
    return Owner(kind="user", id=str(fresh_id()))


def call(account: Owner, model: str = "tenth", **more: Any) -> Call:
    said: dict[str, Any] = {"turn_id": new_id(), "connector": "shop", "app": "chat", "purpose": "reply"} | more
    return Call(call_id=new_id(), account=account, model=model, **said)


SMALL = Estimate(1000, 100)


@pytest.fixture
async def till(servers: Servers, tmp_path: Path) -> AsyncIterator[Till]:
    (tmp_path / "prices.toml").write_text(PRICES)
    db = Database(servers.settings("agent"), pool_size=6)
    await db.start()
    await create_missing(db, app)
    caps, prices = Caps(), Prices(tmp_path)
    yield Till(db, caps, prices, Ledger(db, caps, prices))
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await db.stop()
