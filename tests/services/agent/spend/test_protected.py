"""What the agent itself cannot write in its ledger, and that the sum over a day is exact at its edges."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from schemas.outward import Owner
from services.agent.spend.domain import CapReached, Figures
from shared.clock import now
from shared.db.raw import Raw
from shared.ids import new_id
from shared.testing.servers import Servers
from tests.services.agent.spend.conftest import SMALL, Till, call, somebody


async def refused(till: Till, owner: Owner, sql: str, *values: Any) -> str:
    """The SQLSTATE of what Postgres answers to the agent."""
    with pytest.raises(asyncpg.PostgresError) as found:
        async with till.db.owned(owner) as tx:
            await tx.raw.execute(sql, *values)
    return str(found.value.sqlstate)


async def test_the_agent_cannot_rewrite_empty_or_backdate_its_ledger(till: Till) -> None:
    who, other = somebody(), somebody()
    held = await till.ledger.reserve(call(who), SMALL)
    await till.ledger.settle(held, Figures(1, 1))
    open_ = await till.ledger.reserve(call(who), SMALL)
    mine = "owner_kind = 'user' AND owner_id = $1"
    for sql in (
        f"UPDATE core.usage_ledger SET cost = 0 WHERE {mine}",
        f"DELETE FROM core.usage_ledger WHERE {mine}",
        f"DELETE FROM core.reservations WHERE {mine}",
        f"UPDATE core.reservations SET amount = 0 WHERE {mine}",
        f"UPDATE core.spend_minutes SET spent = 0 WHERE {mine}",
        f"DELETE FROM core.spend_minutes WHERE {mine}",
        "INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, cost, at) VALUES ('user', $1, gen_random_uuid(), 'settled', 0, now() - interval '2 days')",
        "INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, cost, reserved) VALUES ('user', $1, gen_random_uuid(), 'settled', 0, 0)",
        "INSERT INTO core.reservations (owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, expires_at, amount, most_in, most_out, at)"
        " VALUES ('user', $1, gen_random_uuid(), gen_random_uuid(), '', '', '', '', '', now(), 0, 0, 0, now() - interval '2 days')",
        "INSERT INTO core.spend_minutes (owner_kind, owner_id, minute, spent, unknown) VALUES ('user', $1, now(), -5, 0)",
        "CREATE TABLE app.sham (owner_kind text, owner_id text, call_id uuid, cost numeric, at timestamptz);"
        " CREATE TRIGGER sham AFTER INSERT ON app.sham REFERENCING NEW TABLE AS booked FOR EACH STATEMENT EXECUTE FUNCTION core.keep_spending();"
        " INSERT INTO app.sham VALUES ('user', $1, gen_random_uuid(), -5, now())",
        "CREATE OR REPLACE FUNCTION core.keep_spending() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NULL; END $f$; SELECT $1::text",
    ):
        code = await refused(till, who, sql.replace("$1", f"'{who.id}'"))
        assert code == "42501", (code, sql)
    book = "INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, cost) VALUES ('user', $1, $2, 'settled', $3)"
    assert await refused(till, other, book, who.id, open_.call.call_id, Decimal(0)) in ("42501", "23503")
    assert await refused(till, who, book, who.id, new_id(), Decimal(0)) == "23503"
    assert await refused(till, who, book, who.id, open_.call.call_id, Decimal(5)) == "23514"
    assert await refused(till, who, book, who.id, open_.call.call_id, Decimal(-5)) == "23514"
    assert (await till.ledger.standing(who)).spent == Decimal("0.1")


@pytest.fixture
async def root(servers: Servers) -> AsyncIterator[Raw]:
    """As the server's own user, which alone can say when something was."""
    found = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user="pgadm", database="agent_db")
    yield found
    await found.close()


OLD = """
INSERT INTO core.reservations (owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, at, expires_at, amount, most_in, most_out)
VALUES ('user', $1, $2, $2, 'shop', 'tenth', 'agent', 'chat', 'reply', $3, $3, $4, 1, 1)"""
SETTLED = (
    "INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, cost) VALUES ('user', $1, $2, 'settled', $3)"
)


async def old(root: Raw, who: Owner, ago: timedelta, cost: Decimal) -> None:
    call_id = new_id()
    async with root.transaction():
        await root.execute("SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', $1, true)", who.id)  # fmt: skip
        await root.execute(OLD, who.id, call_id, now() - ago, cost)
        await root.execute(SETTLED, who.id, call_id, cost)


async def test_the_day_is_exact_at_its_edge(till: Till, root: Raw) -> None:
    """Rows of the same minute, of which some have left the window: whole minutes come from their sums, this one row by row."""
    who, day = somebody(), timedelta(hours=24)
    await asyncio.sleep(max(0, now().second - 55) * 2)  # what is said is to the minute: not over its end
    till.caps.of[who] = Decimal(1)
    await old(root, who, day + timedelta(seconds=3), Decimal("0.3"))
    await old(root, who, day - timedelta(seconds=2), Decimal("0.4"))
    await old(root, who, day - timedelta(hours=5), Decimal("0.5"))
    first = await till.ledger.standing(who)
    assert (first.spent, first.frees) == (Decimal("0.9"), Decimal("0.4"))
    assert first.frees_at is not None and first.frees_at - now() < timedelta(seconds=3)
    with pytest.raises(CapReached, match=r"\$0.40 frees up") as full:
        for _ in range(2):
            await till.ledger.reserve(call(who), SMALL)
    assert full.value.enough_at is not None
    await asyncio.sleep((full.value.enough_at - now()).total_seconds() + 0.05)
    held = await till.ledger.reserve(call(who), SMALL)
    await till.ledger.settle(held, Figures(1, 1))
    assert (await till.ledger.standing(who)).spent == Decimal("0.6")
    async with till.db.owned(who) as tx:
        rows = await tx.raw.fetchval("SELECT sum(spent) FROM core.spend_minutes WHERE owner_id = $1", who.id)
    assert rows == Decimal("1.3")
