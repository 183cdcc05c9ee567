"""A console on a real database: use cases called, events handed in, what it staged read back. No bus, no HTTP server."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from pwdlib.hashers.argon2 import Argon2Hasher

from schemas.bridge.v1 import Finding, ItemMoved, ItemQueued
from schemas.content import ItemContent
from schemas.model import Actor, ItemState, Kind
from schemas.site.v1 import ItemApplied
from schemas.text import sha256
from services.console.identity.issuer import Issuer
from services.console.people.domain import Caller
from services.console.people.passwords import Passwords
from services.console.queue.domain import Order
from services.console.queue.usecases.decide_item import Decided, decide_item
from services.console.queue.usecases.record_applied import record_applied
from services.console.queue.usecases.record_moved import record_moved
from services.console.queue.usecases.record_queued import record_queued
from services.console.tables import app
from shared.clock import now
from shared.db import Database, create_missing
from shared.ids import item_id, new_id
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers

MARA = Caller(str(uuid4()), "Mara Okonjo", "moderator")
TOM = Caller(str(uuid4()), "Tom Brandt", "moderator")
_names = count(1)


@dataclass
class Made:
    """A queued revision of an item, as the lock told it."""

    item_id: UUID
    path: str
    revision: int
    content_hash: str
    version: int

    def order(self, verdict: Any = "approve", reason: str = "") -> Order:
        return Order(self.item_id, verdict, reason, self.revision, self.content_hash, self.version)


class Desk:
    """Use cases on one database."""

    def __init__(self, db: Database, key: SigningKey, issuer: Issuer) -> None:
        self.db, self.key, self.issuer = db, key, issuer

    async def queue(
        self,
        text: str = "Water.",
        of: Made | None = None,
        by: str = "jonas",
        findings: tuple[Finding, ...] = (),
        kind: Kind = "doc",
    ) -> Made:
        path = of.path if of else f"p-{next(_names)}-{uuid4().hex[:6]}"
        content = ItemContent(title="Lock", body=text).to_bytes()
        made = Made(
            item_id(kind, "en", path),
            path,
            (of.revision + 1) if of else 1,
            sha256(content),
            (of.version + 1) if of else 1,
        )
        blocked = any(each.level == "block" for each in findings)
        event = ItemQueued(
            item_id=made.item_id, submission_id=new_id(), revision=made.revision, kind=kind, lang="en", path=path, title="Lock",
            audience="public", content=content, content_hash=made.content_hash, submitted_by=Actor(id=by, name="Jonas"),
            findings=findings, queued_at=now(), state="rejected" if blocked else "submitted", version=made.version,
        )  # fmt: skip
        async with self.db.transaction() as tx:
            await record_queued(tx, new_id(), event)
        return made

    async def move(self, made: Made, state: ItemState, version: int, **more: Any) -> None:
        by = more.pop("by", Actor(id=MARA.id, name=MARA.name))
        moved = ItemMoved(
            item_id=made.item_id,
            revision=more.pop("revision", made.revision),
            state=state,
            by=by,
            at=now(),
            version=version,
            **more,
        )
        async with self.db.transaction() as tx:
            await record_moved(tx, new_id(), moved)

    async def publish(self, made: Made, gate_seq: int = 0) -> None:
        await self.move(made, "approved", made.version + 1, verdict="approve")
        await self.move(made, "published", made.version + 2, gate_seq=gate_seq)
        made.version += 2

    async def applied(self, made: Made, seq: int, effect: Any = "live", at: datetime | None = None) -> Any:
        event = ItemApplied(
            item_id=made.item_id, gate_seq=seq, effect=effect, revision=made.revision, applied_at=at or now()
        )
        async with self.db.transaction() as tx:
            return await record_applied(tx, event)

    async def decide(self, order: Order, caller: Caller = MARA) -> Decided:
        async with self.db.transaction() as tx:
            return await decide_item(tx, self.key, caller, order)

    async def item(self, made: Made) -> dict[str, Any]:
        [row] = await self.rows("SELECT * FROM app.items WHERE item_id = $1", made.item_id)
        return row

    async def staged(self, made: Made) -> list[dict[str, Any]]:
        """Envelopes about the item, in order."""
        rows = await self.rows("SELECT body FROM app.outbox WHERE about = $1 ORDER BY position", str(made.item_id))
        return [json.loads(row["body"]) for row in rows]

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(sql, *values)]


@pytest.fixture
async def desk(servers: Servers) -> AsyncIterator[Desk]:
    settings = servers.settings("console")
    db = Database(settings, pool_size=6)
    await db.start()
    await create_missing(db, app)
    issuer = Issuer.load(settings.keys, settings.url)
    yield Desk(db, SigningKey.load(settings.keys / "decision.key"), issuer)
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests staged
        await tx.raw.execute("DELETE FROM app.switches")
    await db.stop()


@pytest.fixture(scope="session")
def passwords() -> Passwords:
    """The real thing at the least cost: most of these tests hash, and few are about hashing."""
    return Passwords(Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture(scope="session")
def keys(servers: Servers) -> PublicKeys:
    """The installation's public keys, as receivers have them."""
    return PublicKeys.load(servers.settings("site").public_keys)
