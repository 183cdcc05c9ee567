"""Open connections, each kept together with its SQLAlchemy face.

SQLAlchemy's own pool gives a bare connection and dresses it anew for each use, 130 µs of CPU each time: with ten uses
between a decision and its page that was most of a tenth of the way.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.db.raw import Raw

WAIT_SECONDS = 30.0
Pair = tuple[AsyncConnection, Raw]


class Pool:
    """Up to `size` pairs. The engine's isolation level is AUTOCOMMIT, so a face that was used holds nothing open."""

    def __init__(self, engine: AsyncEngine, size: int) -> None:
        self._engine, self._size = engine, size
        self._room = asyncio.Semaphore(size)
        self._idle: list[Pair] = []

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Pair]:
        """One pair whose socket is open. TimeoutError when none comes free; what asyncpg raises when the server is away."""
        async with asyncio.timeout(WAIT_SECONDS):
            await self._room.acquire()
        try:
            pair = await self._live()
            try:
                yield pair
            except BaseException:
                await asyncio.shield(_give_back(pair))  # whoever is cut off here is cut off at every await
                raise
            self._idle.append(pair)
        finally:
            self._room.release()

    async def _live(self) -> Pair:
        """The pair used last, or a new one; dead ones, left by a restarted server, are thrown away."""
        while self._idle:
            pair = self._idle.pop()
            if not pair[1].is_closed():
                return pair
            await _give_back(pair)
        while True:
            connection = await self._open()
            raw: Any = (await connection.get_raw_connection()).driver_connection
            if not raw.is_closed():
                return connection, raw
            await _give_back((connection, raw))

    async def _open(self) -> AsyncConnection:
        """SQLAlchemy wraps what asyncpg raises here; callers tell a server that just starts from a fault by asyncpg's own error."""
        try:
            return await self._engine.connect()
        except DBAPIError as error:
            raise (getattr(error.orig, "__cause__", None) or error) from None

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop()[0].close()
        await self._engine.dispose()


async def _give_back(pair: Pair) -> None:
    """To the engine, which resets it; a closed one is replaced. So is one whose user was cut off before the transaction could be rolled back."""
    connection, raw = pair
    if not raw.is_closed() and raw.is_in_transaction():
        raw.terminate()
    if raw.is_closed():
        await connection.invalidate()
    await connection.close()
