"""No row of another owner, whatever a statement asks for: pooled connections, interleaved owners, savepoints, failures, views, and copies of the database.

The sentence that is tested: a transaction sees and writes the rows of the owner that it said it acts for, and no others; one that said
nothing sees none (architecture 4, rule 24, cases AG-06 and DB-03).
"""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.outward import Owner
from services.agent.tables import CORE_OWNED, app
from shared.clock import now
from shared.db import Database, create_missing
from shared.testing.servers import Servers

PUT = "INSERT INTO core.profiles (owner_kind, owner_id, zone, zone_at) VALUES ($1, $2, $3, $4) ON CONFLICT (owner_kind, owner_id) DO UPDATE SET zone = excluded.zone"
SEEN = "SELECT owner_kind, owner_id, zone FROM core.profiles"
DENIED = asyncpg.InsufficientPrivilegeError
LIKE_EACH_OTHER = ("7", "07", "7 ", " 7", "alice@x", "alice_x", "alice%x", "ALICE@x", "a" * 64, "a" * 63, "a" * 200, "user:7", "'; --", "\\", "é", "e\u0301")  # fmt: skip
"""Ids that a store could fold into one another (AG-06)."""


@pytest.fixture
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=3)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


def owners() -> list[Owner]:
    run = secrets.token_hex(4)
    return [Owner(kind=kind, id=(each + run)[-200:]) for kind in ("user", "guest") for each in LIKE_EACH_OTHER]


class _Broken(Exception):
    """As when a use case fails half-way."""


async def _step(db: Database, owner: Owner, choice: int, said: dict[Owner, str]) -> None:
    """One of the things that happen: write, look, fail after writing, act for one after the other, ask without an owner."""
    zone = secrets.token_hex(8)
    match choice:
        case 0:
            async with db.owned(owner) as tx:
                await tx.raw.execute(PUT, owner.kind, owner.id, zone, now())
            said[owner] = zone
        case 1:
            try:
                async with db.owned(owner) as tx:
                    await tx.raw.execute(PUT, owner.kind, owner.id, zone, now())
                    await asyncio.sleep(0)
                    raise _Broken
            except _Broken:
                pass
        case 2:
            async with db.transaction() as tx:
                async with tx.acting_for(owner):
                    found = [tuple(row) for row in await tx.raw.fetch(SEEN)]
                assert await tx.raw.fetch(SEEN) == []
            assert found == ([(owner.kind, owner.id, said[owner])] if owner in said else [])
        case 3:
            async with db.reading() as tx:
                assert await tx.raw.fetch(SEEN) == [], "nobody acts for anybody here"
        case _:
            async with db.owned(owner) as tx:
                async with tx.savepoint():
                    await asyncio.sleep(0)
                found = [tuple(row) for row in await tx.raw.fetch(SEEN)]
            assert found == ([(owner.kind, owner.id, said[owner])] if owner in said else [])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), at_once=st.integers(1, 8))
async def test_owners_on_pooled_connections_never_see_each_others_rows(db: Database, seed: int, at_once: int) -> None:
    """Each task acts for owners of its own, in random order, all on three connections: what one sees is what it wrote, exactly."""
    chance = random.Random(seed)
    everybody = owners()
    chance.shuffle(everybody)
    shares = [everybody[at::at_once] for at in range(at_once)]

    async def work(mine: list[Owner], seed: int) -> None:
        own, said = random.Random(seed), dict[Owner, str]()
        for _ in range(12):
            await _step(db, own.choice(mine), own.randrange(5), said)
        for owner in said:
            await _step(db, owner, 4, said)

    await asyncio.gather(*(work(mine, chance.randrange(2**32)) for mine in shares))


@pytest.fixture
async def two(db: Database) -> tuple[Owner, Owner]:
    """(user, 7) and (guest, 7), each with a row."""
    same = "7" + secrets.token_hex(4)
    one, other = Owner(kind="user", id=same), Owner(kind="guest", id=same)
    for owner in (one, other):
        async with db.owned(owner) as tx:
            await tx.raw.execute(PUT, owner.kind, owner.id, str(owner), now())
    return one, other


STATEMENTS = (
    "SELECT * FROM core.profiles WHERE owner_id = $1 AND owner_kind = 'guest'",
    "UPDATE core.profiles SET zone = 'x' WHERE owner_id = $1 AND owner_kind = 'guest' RETURNING 1",
    "DELETE FROM core.profiles WHERE owner_id = $1 AND owner_kind = 'guest' RETURNING 1",
    "WITH found AS (SELECT * FROM core.profiles) SELECT * FROM found WHERE owner_id = $1 AND owner_kind <> 'user'",
    "SELECT * FROM core.profiles p JOIN core.profiles q ON true WHERE q.owner_kind = 'guest' OR $1::text IS NULL",
)


@pytest.mark.parametrize("statement", STATEMENTS)
async def test_a_statement_that_names_another_owner_finds_nothing(db: Database, two: tuple[Owner, Owner], statement: str) -> None:  # fmt: skip
    one, other = two
    async with db.owned(one) as tx:
        assert await tx.raw.fetch(statement, one.id) == []
    async with db.owned(other) as tx:
        assert [row["zone"] for row in await tx.raw.fetch(SEEN)] == [str(other)]


async def test_a_row_for_another_owner_cannot_be_written(db: Database, two: tuple[Owner, Owner]) -> None:
    one, other = two
    for statement, values in (
        (PUT, ("user", "somebody else", "x", now())),
        (PUT, (other.kind, other.id, "x", now())),
        (PUT, ("user", "", "x", now())),
        (
            "UPDATE core.profiles SET zone = zone, zone_at = $1 WHERE owner_id = '' OR true RETURNING owner_kind",
            (now(),),
        ),
    ):
        try:
            async with db.owned(one) as tx:
                rows = await tx.raw.fetch(statement, *values)
            assert [row["owner_kind"] for row in rows] == ["user"]
        except (DENIED, asyncpg.CheckViolationError):
            continue
    async with db.owned(other) as tx:
        assert [row["zone"] for row in await tx.raw.fetch(SEEN)] == [str(other)]


async def test_security_cannot_be_switched_off_by_the_service(db: Database, two: tuple[Owner, Owner]) -> None:
    one, _ = two
    for statement in (
        "ALTER TABLE core.profiles DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE core.profiles NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY owner_only ON core.profiles",
        "CREATE POLICY mine ON core.profiles USING (true)",
        "SET ROLE agent_owner",
        "SET SESSION AUTHORIZATION postgres",
        "TRUNCATE core.profiles",
        "COPY core.profiles TO PROGRAM 'cat'",
    ):
        with pytest.raises(asyncpg.PostgresError):
            async with db.owned(one) as tx:
                await tx.raw.execute(statement)
    with pytest.raises(DENIED):
        async with db.owned(one) as tx:
            await tx.raw.execute("SET LOCAL row_security = off")
            await tx.raw.fetch(SEEN)


async def test_two_owners_of_one_transaction_come_one_after_the_other(db: Database, two: tuple[Owner, Owner]) -> None:
    one, other = two
    async with db.transaction() as tx:
        for owner in (one, other, one):
            async with tx.acting_for(owner):
                assert [row["zone"] for row in await tx.raw.fetch(SEEN)] == [str(owner)]
        with pytest.raises(_Broken):
            async with tx.acting_for(one):
                raise _Broken
        assert await tx.raw.fetch(SEEN) == []


async def test_ag_06_there_is_no_default_owner(db: Database) -> None:
    """Broken or missing: refused where it is made, and no row anywhere (AG-06)."""
    for kind, name in (("user", ""), ("nobody", "7"), ("", ""), ("User", "7"), ("user", "a" * 201)):
        with pytest.raises(ValidationError):
            Owner(kind=kind, id=name)
    with pytest.raises(RuntimeError, match="per transaction"):
        async with db.reading() as tx:
            await tx.act_for(Owner(kind="user", id="7"))
    with pytest.raises(DENIED):
        async with db.transaction() as tx:
            await tx.raw.execute(PUT, "user", "7", "UTC", now())


async def _as(servers: Servers, role: str) -> asyncpg.Connection:
    return await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user=role, database="agent_db")


VIEWS = (
    "CREATE VIEW app.leaky AS SELECT * FROM core.profiles",
    "CREATE VIEW app.guarded WITH (security_invoker = true) AS SELECT * FROM core.profiles",
    "CREATE MATERIALIZED VIEW app.copied AS SELECT * FROM core.profiles",
)


async def test_views_over_owned_tables_show_no_more_than_the_tables(db: Database, servers: Servers, two: tuple[Owner, Owner]) -> None:  # fmt: skip
    """DB-03: a view reads with its creator's rights, and FORCE holds for the creator, too; what a service materialises it saw itself."""
    one, _ = two
    maker: Any = await _as(servers, "agent")
    try:
        for statement in VIEWS:
            await maker.execute(statement)
        async with db.owned(one) as tx:
            for view in ("leaky", "guarded"):
                found = await tx.raw.fetch(f"SELECT zone FROM app.{view}")
                assert [row["zone"] for row in found] == [str(one)], view
            assert await tx.raw.fetch("SELECT * FROM app.copied") == [], "whoever made it acted for nobody"
        async with db.reading() as tx:
            assert await tx.raw.fetch("SELECT * FROM app.leaky") == []
    finally:
        for kind, name in (("VIEW", "leaky"), ("VIEW", "guarded"), ("MATERIALIZED VIEW", "copied")):
            await maker.execute(f"DROP {kind} IF EXISTS app.{name}")
        await maker.close()


async def test_the_owner_role_of_the_tables_sees_no_more(servers: Servers, db: Database, two: tuple[Owner, Owner]) -> None:  # fmt: skip
    """FORCE: whoever got hold of the role that owns the tables has still to say for whom."""
    admin: Any = await _as(servers, "pgadm")
    try:
        await admin.execute("BEGIN; SET LOCAL ROLE agent_owner")
        for table in sorted(CORE_OWNED):
            assert await admin.fetchval(f"SELECT count(*) FROM core.{table}") == 0, table
        await admin.execute("ROLLBACK")
    finally:
        await admin.close()


async def test_every_owned_table_shows_nothing_without_an_owner(db: Database) -> None:
    async with db.reading() as tx:
        for table in sorted(CORE_OWNED):
            assert await tx.raw.fetchval(f"SELECT count(*) FROM core.{table}") == 0, table
