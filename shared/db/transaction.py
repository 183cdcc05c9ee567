"""A unit of work. Use cases get a Tx: they write rows and stage events, and cannot reach the bus."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import asyncpg
from sqlalchemy import Connection, RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Executable

from schemas.model import Data
from schemas.outward import Owner
from shared.db.raw import Raw
from shared.errors import Conflict
from shared.outbox.stage import Pending, Stamp

if TYPE_CHECKING:
    from shared.bus.received import AnyReceived

T = TypeVar("T")
_STAGE = """
WITH e AS (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bytea[],
    $9::jsonb[]) AS t(event_id, name, subject, lane, about, key, keyversion, body, headers)
), o AS (
  INSERT INTO app.outbox (event_id, name, subject, lane, about, key, keyversion, body, headers)
  SELECT event_id, name, subject, lane, about, key, keyversion, body, headers FROM e RETURNING position, lane
)
INSERT INTO app.todo (position, lane) SELECT position, lane FROM o
"""
_PARK = """
INSERT INTO app.parked (event_id, name, subject, headers, body, part, reason, attempts)
VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, $8)
"""


_ACT = "SELECT set_config('app.owner_kind', $1, true), set_config('app.owner_id', $2, true)"


class Tx:
    """One transaction. `raw` is the asyncpg connection for hot paths; it is in the same transaction."""

    def __init__(self, connection: AsyncConnection, raw: Raw, stamp: Stamp | None) -> None:
        self._connection = connection
        self._stamp = stamp
        self._pending: list[Pending] = []
        self._after: list[Callable[[], None]] = []
        self.raw = raw
        self.lanes: set[str] = set()

    async def execute(
        self, statement: Executable, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Run a statement; the number of rows it touched."""
        result = await self._connection.execute(statement, values)
        return int(getattr(result, "rowcount", 0))

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[RowMapping]:
        return (await self._connection.execute(statement, values)).mappings().all()

    async def row(self, statement: Executable, values: Mapping[str, Any] | None = None) -> RowMapping | None:
        """The first row, or None."""
        return (await self._connection.execute(statement, values)).mappings().first()

    async def value(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Any:
        """The first column of the first row, or None."""
        return (await self._connection.execute(statement, values)).scalar()

    async def inspected(self, look: Callable[[Connection], T]) -> T:
        """What a plain function of SQLAlchemy finds out about the database, in this transaction."""
        return await self._connection.run_sync(look)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """What fails inside is undone alone; events staged inside go with it."""
        kept = len(self._pending)
        try:
            async with self.raw.transaction():
                yield
        except BaseException:
            del self._pending[kept:]
            raise

    @asynccontextmanager
    async def acting_for(self, owner: Owner) -> AsyncIterator[None]:
        """Row security lets through this owner's rows, and nobody's afterwards (architecture 4). For the rest of the transaction it is set by
        `Database.owned`; this is for handlers that come by several owners in one."""
        await self.act_for(owner)
        try:
            yield
        finally:
            if not self.raw.is_closed() and self.raw.is_in_transaction():
                await self._act("", "")

    async def act_for(self, owner: Owner) -> None:
        """Local to the transaction: whoever uses the connection next acts for nobody."""
        await self._act(owner.kind, owner.id)

    async def _act(self, kind: str, owner_id: str) -> None:
        if not self.raw.is_in_transaction():
            raise RuntimeError("an owner is set per transaction")
        await self.raw.execute(_ACT, kind, owner_id)

    def stage(
        self,
        name: str,
        data: Data,
        *,
        key: str,
        version: int,
        about: str = "",
        to: str | None = None,
        actor: str | None = None,
        cause: "AnyReceived | None" = None,
    ) -> UUID:
        """Publish an event when, and only when, this transaction commits.

        `key` and `version` order the aggregate's history; `about` names the aggregate where the key does not (default:
        the key). `to` is the bridge's receiver. Returns the event id. TooLarge when it would pass 900 KiB.
        """
        return self.stage_json(
            name,
            data.model_dump_json().encode(),
            key=key,
            version=version,
            about=about,
            to=to,
            actor=actor,
            cause=cause,
        )

    def stage_json(
        self,
        name: str,
        data: bytes,
        *,
        key: str,
        version: int,
        about: str = "",
        to: str | None = None,
        actor: str | None = None,
        cause: "AnyReceived | None" = None,
    ) -> UUID:
        """`stage` for data that is already valid JSON of the event's model (hot paths)."""
        pending = self._stamper.envelope(
            name, data, key=key, version=version, about=about or key, to=to, actor=actor, cause=cause
        )
        self._pending.append(pending)
        return pending.event_id

    def forward(self, event: "AnyReceived", to: str, body: bytes | None = None) -> None:
        """Let an event through unchanged: same id, key, version and (unless `body` is given) the same bytes."""
        self._pending.append(self._stamper.forwarded(event, to, body))

    @property
    def _stamper(self) -> Stamp:
        if self._stamp is None:
            raise RuntimeError("nothing can be staged outside a transaction")
        return self._stamp

    async def park(self, event: "AnyReceived", reason: str, part: bytes | None = None) -> None:
        """Keep an event (or a part of it) that cannot be handled, for a person to look at."""
        await self.raw.execute(
            _PARK, event.event_id, event.name, event.subject, event.headers_json, event.raw, part, reason, event.attempt
        )

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run a plain callable once the transaction is durable (wake a page, touch a cache)."""
        self._after.append(action)

    async def flush(self) -> None:
        """Write what was staged, in one statement. Called by Database at the end of the transaction."""
        if not self._pending:
            return
        self._stamper.seal(self._pending)
        columns = [list(column) for column in zip(*(each.columns() for each in self._pending), strict=True)]
        try:
            await self.raw.execute(_STAGE, *columns)
        except asyncpg.UniqueViolationError as error:
            raise Conflict(f"the history has moved on: {error.detail}") from error
        self.lanes = {each.lane for each in self._pending}
        self._pending = []

    def committed(self) -> None:
        for action in self._after:
            action()
