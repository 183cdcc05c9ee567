"""CHECK constraints of protected tables are what the code declares, whatever an earlier start or a person left (S2)."""

import asyncpg
import pytest

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
