"""CHECK constraints of protected tables are what the code declares, whatever an earlier start or a person left (S2)."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from infra.postgres.core import declared, provision_core
from infra.postgres.settings import SUPERUSER
from shared.testing.servers import Servers
from tests.parts.test_provisioning_postgres import session

BRIDGE = "console_site_db"
DEFINITION = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'core.policies'::regclass AND conname = 'policies_shut_to_site'"
DROP = "ALTER TABLE core.policies DROP CONSTRAINT policies_shut_to_site"
ROW = "INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason) VALUES ('console', 'site', 'page', 1, 'deliver', 'x', 'x')"


@pytest.mark.parametrize(
    "planted", [DROP, f"{DROP}; ALTER TABLE core.policies ADD CONSTRAINT policies_shut_to_site CHECK (policy <> '')"]
)
async def test_a_dropped_or_weakened_check_comes_back(postgres: Servers, planted: str) -> None:
    async with session(postgres, SUPERUSER, BRIDGE) as admin:
        sound = await admin.fetchval(DEFINITION)
        await admin.execute(planted)
        assert await admin.fetchval(DEFINITION) != sound
        postgres.provision_postgres()
        assert await admin.fetchval(DEFINITION) == sound


async def test_a_row_that_the_check_forbids_stops_the_start(postgres: Servers) -> None:
    async with session(postgres, SUPERUSER, BRIDGE) as admin:
        await admin.execute(f"{DROP}; {ROW}")
        try:
            with pytest.raises(RuntimeError, match="policies_shut_to_site"):
                postgres.provision_postgres()
        finally:
            await admin.execute(
                "ALTER TABLE core.policies DISABLE TRIGGER USER; DELETE FROM core.policies WHERE type = 'page'"
            )
        postgres.provision_postgres()
        with pytest.raises(asyncpg.CheckViolationError):
            await admin.execute(ROW)


INDEX = "SELECT pg_get_indexdef('core.decisions_one_verdict'::regclass)"
OLDER = """DROP INDEX core.decisions_one_verdict;
  CREATE UNIQUE INDEX decisions_one_verdict ON core.decisions (item_id, revision) WHERE verdict <> 'withdraw'"""
BEFORE_UNDO = f"""{OLDER}; DROP INDEX core.decisions_undone_once;
  ALTER TABLE core.decisions DROP COLUMN round CASCADE, DROP COLUMN undoes CASCADE, DROP CONSTRAINT decisions_verdict;
  ALTER TABLE core.decisions ADD CONSTRAINT decisions_verdict CHECK (verdict IN ('approve', 'reject', 'request_changes', 'withdraw'));
  CREATE OR REPLACE FUNCTION core.check_decision() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"""


@pytest.fixture
async def scratch(postgres: Servers) -> AsyncIterator[asyncpg.Connection]:
    """An empty database with the lock's protected tables in it."""
    async with session(postgres, SUPERUSER, "postgres") as admin:
        await admin.execute("CREATE DATABASE scratch")
        try:
            async with session(postgres, SUPERUSER, "scratch") as database:
                await database.execute("CREATE SCHEMA core AUTHORIZATION bridge_owner")
                await provision_core(database, "bridge", declared("bridge"))
                yield database
        finally:
            await admin.execute("DROP DATABASE scratch")


@pytest.mark.parametrize("planted", [OLDER, "DROP INDEX core.decisions_one_verdict", BEFORE_UNDO])
async def test_an_index_of_an_older_release_or_a_dropped_one_is_renewed(
    scratch: asyncpg.Connection, planted: str
) -> None:
    sound = await scratch.fetchval(INDEX)
    await scratch.execute(planted)
    await provision_core(scratch, "bridge", declared("bridge"))
    assert await scratch.fetchval(INDEX) == sound
    columns = await scratch.fetch("SELECT attname FROM pg_attribute WHERE attrelid = 'core.decisions'::regclass")
    assert {"round", "undoes"} <= {row[0] for row in columns}
