"""The one way to a service's database. Nothing outside this package commits."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from schemas.outward import Owner
from shared.db.pool import Pair, Pool
from shared.db.raw import Raw
from shared.db.transaction import Tx
from shared.errors import Away, Transient
from shared.outbox.stage import Stamp
from shared.settings import Settings

GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InternalClientError,  # a socket that ended in the middle of an operation
    ConnectionError,
    FileNotFoundError,
    PermissionError,
    TimeoutError,
)
"""What asyncpg raises when the server is away, going away, or not yet back."""
FULL = (asyncpg.DiskFullError, asyncpg.InsufficientResourcesError, asyncpg.OutOfMemoryError)


SLOW = (
    asyncpg.QueryCanceledError,  # the statement's time was over, or that of waiting for a lock
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
"""What asyncpg raises when the server ended a statement that others or the load held up. It may work the next time."""


POOL, POOL_OF_SEVERAL = 10, 4
"""Connections kept open. A role may have 18 in all, which instances share; each holds two more beside its pool (the agent three: its lease), and needs one to start."""

IDLE_OF_SEVERAL = "6s"
"""An instance that hangs in a transaction holds locks that the other needs."""


class Database:
    """A pool of connections as the service's own role over the Unix socket, by peer authentication.

    `stamp` names the service in envelopes, and seals those of the bridge. `wake(lane)` is called after each commit that
    staged something.
    """

    def __init__(
        self, settings: Settings, stamp: Stamp | None = None, pool_size: int | None = None, *, unhurried: bool = False
    ) -> None:
        """`unhurried`: transactions may compute for seconds between two statements."""
        self._settings = settings
        self._size = pool_size or (POOL_OF_SEVERAL if settings.cluster else POOL)
        hurried = settings.cluster and not unhurried
        self._patience = {"idle_in_transaction_session_timeout": IDLE_OF_SEVERAL} if hurried else {}
        self._pool: Pool | None = None
        self.stamp = stamp or Stamp(settings.service)
        self.wake: Callable[[str], None] = lambda lane: None

    async def start(self) -> None:
        """Wait until the server answers. Opens the pool before anyone asks, so that no burst opens many."""
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self.connect,
            pool_size=self._size,
            max_overflow=0,
            isolation_level="AUTOCOMMIT",
        )
        self._pool = Pool(engine, self._size)
        while True:
            try:
                async with self.reading():
                    return
            except Away:
                await asyncio.sleep(0.3)

    async def stop(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    async def connect(self) -> Raw:
        """One connection outside the pool (the relay's lock holds one). Checks who serves the socket (S9)."""
        settings = self._settings
        connection = await asyncpg.connect(
            host=str(settings.pg_socket_dir),
            user=settings.service,
            database=settings.database,
            timeout=10,
            server_settings={"application_name": f"schleuse {settings.part}", "timezone": "UTC"} | self._patience,
        )
        expected = settings.uids.get("pgadm")
        peer = peer_uid(connection._transport.get_extra_info("socket"))  # type: ignore[attr-defined]
        if expected is not None and peer != expected:
            connection.terminate()
            raise PermissionError(f"the Postgres socket is served by uid {peer}, not by {expected}")
        return connection

    @asynccontextmanager
    async def _checkout(self) -> AsyncIterator[Pair]:
        if self._pool is None:
            raise Away("the database is not open yet")
        async with self._pool.connection() as pair:
            yield pair

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """One unit of work: what is written and what is staged become durable together, or not at all.

        Raises Away when the server goes away or its disk is full; then nothing was kept.
        """
        with _named():
            async with self._checkout() as (connection, raw):
                tx = Tx(connection, raw, self.stamp)
                async with raw.transaction():
                    yield tx
                    await tx.flush()
        for lane in sorted(tx.lanes, reverse=True):  # the site's first: somebody waits for the page
            self.wake(lane)
        tx.committed()

    @asynccontextmanager
    async def owned(self, owner: Owner) -> AsyncIterator[Tx]:
        """A transaction that sees and writes this owner's rows only, whatever its statements ask for. Every table under row security is reached this way."""
        async with self.transaction() as tx:
            await tx.act_for(owner)
            yield tx

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Tx]:
        """Statements outside a transaction; nothing can be staged."""
        with _named():
            async with self._checkout() as (connection, raw):
                yield Tx(connection, raw, None)


@contextmanager
def _named() -> Iterator[None]:
    """Away for what asyncpg raises when the server is away or has no room, Transient when a statement took too long;

    whether SQLAlchemy has wrapped it or not.
    """
    try:
        yield
    except (*GONE, *FULL, *SLOW, DBAPIError) as error:
        cause = getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else error
        if isinstance(cause, GONE):
            raise Away(f"the database went away: {cause}") from error
        if isinstance(cause, SLOW):
            raise Transient(f"the database ended a statement: {cause}") from error
        if isinstance(cause, FULL):
            raise Away(f"the database has no room: {cause}; free some disk space") from error
        raise


def peer_uid(sock: socket.socket) -> int:
    """The user id of the process at the other end of a Unix socket."""
    return _peer(sock)[1]


def peer_pid(sock: socket.socket) -> int:
    """Its process id; 0 when it is in another container."""
    return _peer(sock)[0]


def _peer(sock: socket.socket) -> tuple[int, int, int]:
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, gid = struct.unpack("3i", credentials)
    return int(pid), int(uid), int(gid)
