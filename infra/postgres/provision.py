"""Brings the cluster to what the code declares and checks it. Runs as the superuser's OS user, before NATS and the services start.

    python -m infra.postgres.provision --state DIR

Exit code 78 and a line on standard error when the self-check fails.
"""

import argparse
import asyncio
import sys
from pathlib import Path

import asyncpg

from infra.postgres.cluster import Unsound, provision_cluster, provision_schemas
from infra.postgres.core import declared, provision_core
from infra.postgres.settings import SUPERUSER
from shared.errors import Refused
from shared.settings import DATABASES

HOPELESS = 78
LOCK = 8420_01


async def provision(socket_dir: Path) -> None:
    """Everything, one database after the other. Unsound or asyncpg errors pass through."""
    admin = await connect(socket_dir, "postgres")
    try:
        await admin.execute("SELECT pg_advisory_lock($1)", LOCK)
        await provision_cluster(admin)
        for service, name in DATABASES.items():
            database = await connect(socket_dir, name)
            try:
                await database.execute("SET client_min_messages = error")
                await provision_schemas(database, service)
                await provision_core(database, service, declared(service))
            finally:
                await database.close()
    finally:
        await admin.close()


async def connect(socket_dir: Path, database: str) -> asyncpg.Connection:
    return await asyncpg.connect(host=str(socket_dir), user=SUPERUSER, database=database, timeout=10)


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.postgres.provision")
    parser.add_argument("--state", type=Path, required=True)
    state: Path = parser.parse_args().state
    try:
        asyncio.run(provision(state.resolve() / "run" / "pg"))
    except (Unsound, Refused, asyncpg.PostgresError, OSError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        raise SystemExit(HOPELESS) from None


if __name__ == "__main__":
    main()
