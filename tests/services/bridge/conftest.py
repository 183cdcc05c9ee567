"""A lock on a real database: events in, what it then holds and tells. The bus is not needed for that."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from schemas.agent.v1 import ItemProposed
from schemas.catalogue import BY_NAME, from_subject
from schemas.console.v1 import ItemDecided, ItemSubmitted, ItemUndone, ItemWithdrawn, KeyChanged, SwitchSet
from schemas.envelope import Envelope
from schemas.model import Actor, Data, Verdict
from schemas.statements import Opening, Signed
from services.bridge import store
from services.bridge.domain import Revision
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.main import DEFAULT_POLICIES
from services.bridge.tables import app
from services.bridge.usecases.change_key import change_key
from services.bridge.usecases.decide_item import decide_item
from services.bridge.usecases.inspect_item import Inspected, read_content
from services.bridge.usecases.queue_item import queue_item
from services.bridge.usecases.set_switch import set_switch
from services.bridge.usecases.undo_decision import undo_decision
from services.bridge.usecases.withdraw_item import withdraw_item
from shared.bus import Received
from shared.clock import now
from shared.db import Database, Tx, create_missing
from shared.ids import new_id
from shared.outbox.seal import Sealer
from shared.outbox.stage import Stamp
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from tests.services.bridge.makes import Signer, opening


class Lock:
    """`told` holds what was told since it was last read: (event name, data, receiver)."""

    def __init__(self, db: Database, public: PublicKeys, gate: Gate, signer: Signer) -> None:
        self.db, self.public, self.gate, self.signer = db, public, gate, signer
        self.keys = DecisionKeys(public)

    async def submit(
        self, of: Revision, blocked: bool = False, by: str = "", sender: str = "console"
    ) -> list[dict[str, Any]]:
        kind = ItemSubmitted if sender == "console" else ItemProposed
        data = kind(
            submission_id=new_id(),
            item_id=of.item_id,
            kind=of.kind,  # type: ignore[arg-type]
            lang=of.lang,
            path=of.path,
            audience=of.audience,  # type: ignore[arg-type]
            content=of.content,
            content_hash=of.content_hash,
            submitted_by=Actor(id=by or of.submitted_by, name="Ada"),
        )
        event = received("item.submitted" if sender == "console" else "item.proposed", data, sender)
        content = read_content(data)
        event.prepared = Inspected(None, content) if isinstance(content, str) else Inspected(content, blocked=blocked)
        return await self.run(queue_item, event)

    async def decide(
        self,
        of: Revision,
        verdict: Verdict,
        prior: int,
        who: Opening | None = None,
        signed: Signed | None = None,
        **changed: Any,
    ) -> list[dict[str, Any]]:
        who = who or opening()
        signed = signed or self.signer.decision(of, verdict, prior, who, **changed)
        return await self.deliver(
            received("item.decided", ItemDecided(item_id=of.item_id, statement=signed, opening=who))
        )

    async def deliver(self, event: Received[Any]) -> list[dict[str, Any]]:
        event.prepared = event.prepared or ""  # nothing in it is a secret of ours
        return await self.run(decide_item, event, self.keys, self.gate)

    async def withdraw(self, item: UUID, prior: int, who: Opening | None = None) -> list[dict[str, Any]]:
        who = who or opening(reason="wrong")
        data = ItemWithdrawn(item_id=item, statement=self.signer.withdrawal(item, prior, who), opening=who)
        return await self.run(withdraw_item, received("item.withdrawn", data), self.keys, self.gate)

    async def undo(
        self, of: Revision, undoes: str, prior: int, who: Opening | None = None, sender: str = "console", **changed: Any
    ) -> list[dict[str, Any]]:
        who = who or opening(reason="a mistake")
        data = ItemUndone(
            item_id=of.item_id, statement=self.signer.undo(of, undoes, prior, who, **changed), opening=who
        )
        return await self.run(undo_decision, received("item.undone", data, sender), self.keys, self.gate)

    async def decided(self, of: Revision) -> str:
        """Hash of the newest verdict on the item."""
        [row] = await self.rows(
            "SELECT statement_hash FROM core.decisions WHERE item_id = $1 ORDER BY position DESC LIMIT 1", of.item_id
        )
        return str(row["statement_hash"])

    async def switch(self, name: str, value: str) -> list[dict[str, Any]]:
        who = opening("boss")
        async with self.db.reading() as tx:
            prior = await store.switch_version(tx, name)
        data = SwitchSet(statement=self.signer.setting(name, value, prior, who), opening=who)
        return await self.run(set_switch, received("switch.set", data), self.keys, self.gate)

    async def change_key(self, action: str, subject: SigningKey, by: Signer | None = None) -> list[dict[str, Any]]:
        who = opening("boss")
        data = KeyChanged(statement=(by or self.signer).key_change(action, subject, who), opening=who)
        return await self.run(change_key, received("key.changed", data), self.keys, self.gate)

    async def run(self, usecase: Any, *arguments: Any) -> list[dict[str, Any]]:
        """What the use case told, as written to the outbox: {"name", "to", "data", "key", "version", "envelope"}."""
        async with self.db.transaction() as tx:
            before = await tx.raw.fetchval("SELECT coalesce(max(position), 0) FROM app.outbox")
            await usecase(tx, *arguments)
        return await self.outbox(before)

    async def outbox(self, after: int = 0) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            rows = await tx.raw.fetch(
                "SELECT name, lane, body FROM app.outbox WHERE position > $1 ORDER BY position", after
            )
        found = []
        for row in rows:
            envelope = json.loads(row["body"])
            found.append(
                {"name": row["name"], "to": row["lane"].split(".")[0], "data": envelope["data"], "envelope": envelope}
            )
        return found

    async def rows(self, sql: str, *values: Any) -> list[Any]:
        async with self.db.reading() as tx:
            return list(await tx.raw.fetch(sql, *values))


def received(name: str, data: Data, sender: str = "console", key: str = "k", version: int = 1) -> Received[Any]:
    event = BY_NAME[name]
    envelope = Envelope(
        id=new_id(),
        source=f"/{sender}",
        type=event.ce_type,
        dataschema=event.schema_name(),
        subject=str(getattr(data, "item_id", key)),
        time=now(),
        key=key,
        keyversion=version,
        data=data.model_dump(mode="json"),
    )
    raw = json.dumps(envelope.model_dump(mode="json", exclude_none=True)).encode()
    return Received(data, envelope, raw, from_subject(sender, name))


def names(told: list[dict[str, Any]]) -> list[str]:
    """`item.moved:published>console` and so on, in order."""
    return [
        f"{each['name']}{':' + each['data']['state'] if each['name'] == 'item.moved' else ''}>{each['to']}"
        for each in told
    ]


@pytest.fixture
async def lock(servers: Servers) -> AsyncIterator[Lock]:
    """All switches as on a fresh installation when the test begins and when it ends."""
    settings = servers.settings("bridge")
    db = Database(settings, Stamp("bridge", Sealer(SigningKey.load(settings.keys / "envelope.key"))), pool_size=4)
    await db.start()
    await create_missing(db, app)
    async with db.transaction() as tx:
        await store.seed_policies(tx, DEFAULT_POLICIES)
    signer = Signer(SigningKey.load(servers.settings("console").keys / "decision.key"))
    found = Lock(db, PublicKeys.load(settings.public_keys), Gate(SigningKey.load(settings.keys / "gate.key")), signer)
    yield found
    for name, value in (("publication_mode", "review"), ("four_eyes", "off")):
        async with db.reading() as tx:
            now_set = (await store.rules(tx)).switches[name]
        if now_set != value:
            await found.switch(name, value)
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await db.stop()


async def refused_by_database(db: Database, statement: str, *values: Any) -> str:
    """The database's own words of refusal; the test fails when it lets the statement through."""
    import asyncpg  # noqa: PLC0415

    with pytest.raises(asyncpg.PostgresError) as caught:
        async with db.transaction() as tx:
            await _run(tx, statement, *values)
    return str(caught.value)


async def _run(tx: Tx, statement: str, *values: Any) -> None:
    await tx.raw.execute(statement, *values)
