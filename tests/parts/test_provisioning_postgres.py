"""The cluster as provisioning leaves it, and what a later start puts right."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from sqlalchemy import BigInteger, CheckConstraint, Column, MetaData, Table, Text

from infra.postgres import app_roles
from infra.postgres.cluster import Unsound, check_cluster, provision_cluster, provision_schemas
from infra.postgres.core import Core, check_core, provision_core
from infra.postgres.settings import CONNECTION_LIMIT, SUPERUSER, hba_conf
from shared.settings import DATABASES
from shared.testing.servers import Servers

ROLES = tuple(DATABASES)


@asynccontextmanager
async def session(servers: Servers, role: str, database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user=role, database=database)
    try:
        yield connection
    finally:
        await connection.close()


async def connects(servers: Servers, role: str, database: str) -> bool:
    try:
        async with session(servers, role, database):
            return True
    except asyncpg.InsufficientPrivilegeError:
        return False


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_connects_to_its_own_database_only(postgres: Servers, role: str) -> None:
    others = [*DATABASES.values(), "postgres", "template1"]
    assert [name for name in others if await connects(postgres, role, name)] == [DATABASES[role]]


@pytest.mark.parametrize(
    "planted",
    [
        "GRANT CONNECT ON DATABASE console_db TO site",
        "GRANT CONNECT ON DATABASE agent_db TO PUBLIC",
        "ALTER DATABASE site_db OWNER TO site",
        "ALTER ROLE site SUPERUSER",
        "ALTER ROLE site CREATEROLE BYPASSRLS REPLICATION",
        "ALTER ROLE bridge_owner LOGIN",
        "GRANT bridge TO site",
        "GRANT console_owner TO console",
        "GRANT pg_read_all_data TO agent",
        "ALTER ROLE agent PASSWORD 'x'",
    ],
)
async def test_a_planted_hole_is_seen_and_closed_by_the_next_start(postgres: Servers, planted: str) -> None:
    async with session(postgres, SUPERUSER, "postgres") as admin:
        await admin.execute(planted)
        if "PASSWORD" not in planted:
            with pytest.raises(Unsound):
                if "OWNER TO" in planted:
                    await admin.execute("GRANT CONNECT ON DATABASE site_db TO agent")
                await check_cluster(admin)
        await provision_cluster(admin)
        await check_cluster(admin)
        assert await admin.fetchval("SELECT count(*) FROM pg_authid WHERE rolpassword IS NOT NULL") == 0
        assert (
            await admin.fetchval("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'site_db'")
            == "site_owner"
        )


async def test_a_role_that_is_no_service_stops_the_start(postgres: Servers) -> None:
    async with session(postgres, SUPERUSER, "postgres") as admin:
        await admin.execute("CREATE ROLE stranger LOGIN")
        try:
            with pytest.raises(Unsound, match="stranger"):
                await provision_cluster(admin)
        finally:
            await admin.execute("DROP ROLE stranger")


async def test_a_service_cannot_let_others_into_its_database(postgres: Servers) -> None:
    async with session(postgres, "console", "console_db") as console:
        await console.execute("GRANT CONNECT ON DATABASE console_db TO site")  # a warning: no privileges were granted
    assert not await connects(postgres, "site", "console_db")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listen_addresses", ""),
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("max_connections", "130"),
        ("max_wal_senders", "0"),
        ("unix_socket_permissions", "0770"),
    ],
)
async def test_the_server_runs_with(postgres: Servers, name: str, value: str) -> None:
    async with session(postgres, SUPERUSER, "postgres") as admin:
        assert await admin.fetchval(f"SHOW {name}") == value


async def test_only_two_peer_lines_let_anybody_in(postgres: Servers) -> None:
    async with session(postgres, SUPERUSER, "postgres") as admin:
        rules = await admin.fetch("SELECT type, auth_method, database, error FROM pg_hba_file_rules")
    found = [(rule["type"], rule["auth_method"], rule["error"]) for rule in rules]
    assert found == [("local", how, None) for how in ("peer", "peer", "reject", "peer")]
    apps = ",".join(app_roles.ROLES)
    lines = [
        "local all pgadm peer",
        f"local console_db {apps} peer map=apps",
        f"local all {apps} reject",
        "local all all peer",
    ]
    assert hba_conf(mapped=False) == "\n".join(lines) + "\n"


async def test_a_role_cannot_take_all_connections(postgres: Servers) -> None:
    async with session(postgres, SUPERUSER, "postgres") as admin:
        rows = await admin.fetch("SELECT rolconnlimit FROM pg_roles WHERE rolname = ANY($1)", list(ROLES))
        room = int(await admin.fetchval("SHOW max_connections")) - int(
            await admin.fetchval("SHOW superuser_reserved_connections")
        )
    limits = [row[0] for row in rows]
    assert limits == [CONNECTION_LIMIT] * len(ROLES)
    assert sum(limits) + app_roles.CONNECTIONS * len(app_roles.ROLES) < room


async def test_twenty_thousand_locks_of_one_service_leave_room_for_the_others(postgres: Servers) -> None:
    async with session(postgres, "site", "site_db") as greedy, session(postgres, "bridge", "console_site_db") as other:
        transaction = greedy.transaction()
        await transaction.start()
        await greedy.execute("SELECT pg_advisory_xact_lock_shared(1, n) FROM generate_series(1, 20000) n")
        assert await other.fetchval("SELECT count(pg_try_advisory_lock(2, n)) FROM generate_series(1, 500) n") == 500
        await transaction.rollback()


def protected() -> Core:
    metadata = MetaData(schema="core")
    Table(
        "trial_facts",
        metadata,
        Column("id", BigInteger, primary_key=True),
        Column("said", Text),
        CheckConstraint("said <> 'never'", name="trial_said"),
    )
    return Core(metadata, {"trial_facts": {"select": True, "insert": ["id", "said"]}}, [])


@asynccontextmanager
async def protected_table(servers: Servers) -> AsyncIterator[tuple[asyncpg.Connection, Core]]:
    core = protected()
    async with session(servers, SUPERUSER, "system_db") as admin:
        await provision_core(admin, "connectors", core)
        try:
            yield admin, core
        finally:
            await admin.execute("DROP TABLE core.trial_facts")


ATTACKS = [
    "UPDATE core.trial_facts SET said = 'x'",
    "DELETE FROM core.trial_facts",
    "TRUNCATE core.trial_facts",
    "DROP TABLE core.trial_facts",
    "ALTER TABLE core.trial_facts DISABLE TRIGGER ALL",
    "ALTER TABLE core.trial_facts ADD COLUMN x int",
    "ALTER TABLE core.trial_facts OWNER TO connectors",
    "DROP TRIGGER no_change ON core.trial_facts",
    "CREATE OR REPLACE FUNCTION core.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE TABLE core.mine (id int)",
    "CREATE INDEX ON core.trial_facts (said)",
    "DROP SCHEMA core CASCADE",
    "DROP SCHEMA public CASCADE",
    "SET ROLE connectors_owner",
    "SET session_replication_role = replica",
    "DROP OWNED BY connectors_owner",
    "CREATE EXTENSION pg_trgm SCHEMA core",
    "ALTER SYSTEM SET fsync = off",
    "COPY core.trial_facts TO PROGRAM 'cat'",
    "SELECT pg_read_file('pg_hba.conf')",
]


async def test_what_a_service_may_not_rewrite(postgres: Servers) -> None:
    async with protected_table(postgres), session(postgres, "connectors", "system_db") as connectors:
        await connectors.execute("INSERT INTO core.trial_facts (id, said) VALUES (1, 'kept')")
        for attack in ATTACKS:
            with pytest.raises(asyncpg.PostgresError) as refused:
                await connectors.execute(attack)
            assert refused.value.sqlstate in {"42501", "2BP01", "0LP01"}, attack
        assert await connectors.fetchval("SELECT said FROM core.trial_facts") == "kept"


@pytest.mark.parametrize(
    "planted",
    [
        "GRANT UPDATE ON core.trial_facts TO connectors",
        "GRANT DELETE ON core.trial_facts TO PUBLIC",
        "ALTER TABLE core.trial_facts OWNER TO connectors",
        "ALTER TABLE core.trial_facts DISABLE TRIGGER no_change",
        "DROP TRIGGER no_truncate ON core.trial_facts",
        "GRANT CREATE ON SCHEMA core TO connectors",
        "ALTER SCHEMA core OWNER TO connectors",
        "REVOKE INSERT ON core.trial_facts FROM connectors",
    ],
)
async def test_a_hole_in_a_protected_table_is_closed(postgres: Servers, planted: str) -> None:
    async with protected_table(postgres) as (admin, core):
        await admin.execute(planted)
        with pytest.raises(Unsound):
            await check_core(admin, "connectors", core)
        await provision_schemas(admin, "connectors")
        await provision_core(admin, "connectors", core)


async def test_a_dropped_rule_and_a_new_column_come_back(postgres: Servers) -> None:
    async with protected_table(postgres) as (admin, _):
        await admin.execute("ALTER TABLE core.trial_facts DROP CONSTRAINT trial_said")
        await admin.execute("ALTER TABLE core.trial_facts DROP COLUMN said")
        await provision_core(admin, "connectors", protected())
        with pytest.raises(asyncpg.CheckViolationError):
            await admin.execute("INSERT INTO core.trial_facts (id, said) VALUES (2, 'never')")


async def test_an_undeclared_definer_function_stops_the_start(postgres: Servers) -> None:
    async with protected_table(postgres) as (admin, core):
        await admin.execute("CREATE FUNCTION core.trial_door() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
        try:
            with pytest.raises(Unsound, match="trial_door"):
                await provision_core(admin, "connectors", core)
        finally:
            await admin.execute("DROP FUNCTION core.trial_door()")


async def test_every_declared_table_is_as_declared(postgres: Servers) -> None:
    await asyncio.to_thread(postgres.provision_postgres)
