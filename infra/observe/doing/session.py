"""A connection to a database as a role. Few at a time: the service itself needs the others that its role may have."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

AT_ONCE = 2
_slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))


def slot(role: str) -> asyncio.Semaphore:
    """Held while a connection as that role is open."""
    return _slots[role]


@asynccontextmanager
async def session(state: Path, role: str, database: str) -> AsyncIterator[asyncpg.Connection]:
    async with slot(role):
        connection = await asyncpg.connect(host=str(state / "run" / "pg"), user=role, database=database, timeout=40)
        try:
            yield connection
        finally:
            await connection.close()
