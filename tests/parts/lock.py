"""A little lock for tests of delivery: a site that publishes, a bridge that forwards, a console that notes effects.

Real Postgres and NATS, the real relay, delivery and seals; only the business is made up.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, Uuid, insert

from schemas.site.v1 import GateRequested, ItemApplied, RowRejected, SignalsRecorded
from shared.bus import Received, on
from shared.bus.link import BusLink
from shared.bus.listen import Intake
from shared.clock import now
from shared.db import Database, Tx, create_missing, delivery_tables
from shared.health import Health
from shared.ids import new_id
from shared.outbox.seal import Sealer
from shared.outbox.stage import Stamp
from shared.signing import SigningKey
from shared.testing.servers import Servers

app = MetaData(schema="app")
tables = delivery_tables(app)
effects = Table(
    "effects",
    app,
    Column("event_id", Uuid, primary_key=True),
    Column("key", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
)
Fault = Callable[[Received[ItemApplied]], Awaitable[None]]


async def no_fault(_: Received[ItemApplied]) -> None:
    """Nothing goes wrong."""


class Forwarding:
    """The bridge: lets everything from the site through to the console."""

    @on("item.applied")
    async def on_item_applied(self, tx: Tx, event: Received[ItemApplied]) -> None:
        tx.forward(event, "console")

    @on("signals.recorded", batch=True)
    async def on_signals_recorded(self, tx: Tx, events: Sequence[Received[SignalsRecorded]]) -> None:
        for event in events:
            tx.forward(event, "console")

    @on("row.rejected")
    async def on_row_rejected(self, tx: Tx, event: Received[RowRejected]) -> None:
        tx.forward(event, "console")

    @on("gate.requested")
    async def on_gate_requested(self, tx: Tx, event: Received[GateRequested]) -> None:
        """Nobody answers here."""


@dataclass
class Noting:
    """The console: one row per event in the order of arrival; `fault` may raise."""

    fault: Fault = no_fault
    order: list[tuple[str, int]] = field(default_factory=list)

    @on("item.applied")
    async def on_item_applied(self, tx: Tx, event: Received[ItemApplied]) -> None:
        await self.fault(event)
        values = {"event_id": event.event_id, "key": event.envelope.key, "version": event.envelope.keyversion}
        await tx.execute(insert(effects).values(values))
        tx.after_commit(lambda: self.order.append((event.envelope.key, event.envelope.keyversion)))

    @on("signals.recorded", batch=True)
    async def on_signals_recorded(self, tx: Tx, events: Sequence[Received[SignalsRecorded]]) -> None:
        await tx.execute(insert(effects), [{"event_id": e.event_id, "key": "signals", "version": 1} for e in events])


class Nothing:
    """The site reads nothing here."""


@dataclass
class Member:
    """One service of the little lock."""

    db: Database
    link: BusLink
    health: Health

    async def stop(self) -> None:
        await self.link.stop()
        await self.db.stop()


async def member(servers: Servers, service: str, declared: object) -> Member:
    """Start a service's database and bus, with its real account and role."""
    settings = servers.settings(service)
    sealer = Sealer(SigningKey.load(settings.keys / "envelope.key")) if service == "bridge" else None
    db = Database(settings, Stamp(service, sealer), pool_size=6)
    await db.start()
    await create_missing(db, app)
    health = Health(service)
    link = BusLink(settings, db, health, Intake(declared))
    await link.start()
    return Member(db, link, health)


@dataclass
class Lock:
    site: Member
    bridge: Member
    console: Member
    noting: Noting

    async def stage(self, key: str, versions: Sequence[int]) -> list[UUID]:
        """Stage one event per version in one transaction at the site."""
        async with self.site.db.transaction() as tx:
            return [stage_applied(tx, key, version) for version in versions]

    async def effects(self, key: str) -> list[int]:
        async with self.console.db.reading() as tx:
            rows = await tx.raw.fetch("SELECT version FROM app.effects WHERE key = $1 ORDER BY version", key)
        return [row["version"] for row in rows]

    async def until(self, key: str, count: int, seconds: float = 30.0) -> list[int]:
        """Wait until the console has `count` effects of a key."""
        async with asyncio.timeout(seconds):
            while len(found := await self.effects(key)) < count:
                await asyncio.sleep(0.02)
        return found


def stage_applied(tx: Tx, key: str, version: int) -> UUID:
    data = ItemApplied(item_id=new_id(), gate_seq=version, effect="live", applied_at=now())
    return tx.stage("item.applied", data, key=key, version=version)


@asynccontextmanager
async def running_lock(servers: Servers, noting: Noting | None = None) -> AsyncIterator[Lock]:
    noting = noting or Noting()
    members = [
        await member(servers, "site", Nothing()),
        await member(servers, "bridge", Forwarding()),
        await member(servers, "console", noting),
    ]
    try:
        yield Lock(*members, noting)
    finally:
        await asyncio.gather(*(each.stop() for each in members))
