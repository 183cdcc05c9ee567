"""A call audit with everything that bears witness to it, in real databases, inside transactions that are taken back: for tampering with it.

What verifies is the code that runs in the three services and in the command; only the way between them is a call instead of a socket.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg

from infra.observe import call_audit
from infra.postgres.settings import SUPERUSER
from schemas.connectors import v2
from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from services.bridge.witness import store as lock
from services.bridge.witness.operator import WitnessDesk
from services.connectors.audit import store as audit
from services.connectors.audit.domain import Entry, Head, Note, make_entry
from services.connectors.audit.operator import AuditDesk
from services.console.audit import store
from services.console.audit.operator import CopyDesk
from services.console.schema import app
from shared.clock import now
from shared.db import Database, Tx, create_missing
from shared.ids import new_id
from shared.settings import DATABASES
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers

SIZES = (25, 50, 75)
"""What checkpoints are over; the entries behind the last are witnessed by the lock's crossings alone."""
LENGTH = 90
_COPY = """
INSERT INTO app.calls (entry_id, seq, at, asker, on_behalf_of, connector, operation, target, outcome, status, duration_ms, bytes_out, bytes_in,
  trace_id, call_id, secret, detail, tokens_in, tokens_out, hash)
SELECT entry_id, seq, at, asker, on_behalf_of, connector, operation, target, outcome, status, duration_ms, bytes_out, bytes_in, trace_id,
  call_id, secret, detail, tokens_in, tokens_out, hash
  FROM jsonb_to_recordset($1::jsonb) AS e(entry_id uuid, seq bigint, at timestamptz, asker text, on_behalf_of text, connector text, operation text,
    target text, outcome text, status text, duration_ms int, bytes_out bigint, bytes_in bigint, trace_id text, call_id uuid, secret text,
    detail text, tokens_in bigint, tokens_out bigint, hash text)"""
_CROSS = """
INSERT INTO core.crossings (event_id, sender, receiver, type, key, keyversion, body_hash, policy, verdict, signature_hash)
VALUES (gen_random_uuid(), 'connectors', 'console', 'call.audited', 'call_audit', $1, repeat('0', 64), 'deliver', 'delivered', $2)"""
_OPEN = {
    "connectors": (
        "ALTER TABLE core.call_audit DISABLE TRIGGER no_change",
        "ALTER TABLE core.checkpoints DISABLE TRIGGER USER",
        "ALTER TABLE core.witnesses DISABLE TRIGGER USER",
        "DELETE FROM core.call_audit",
        "DELETE FROM core.checkpoints",
        "DELETE FROM core.witnesses",
    ),
    "bridge": (
        "ALTER TABLE core.crossings DISABLE TRIGGER USER",
        "ALTER TABLE core.audit_checkpoints DISABLE TRIGGER USER",
        "DELETE FROM core.crossings WHERE type = 'call.audited'",
        "DELETE FROM core.audit_checkpoints",
    ),
    "console": ("DELETE FROM app.calls", "DELETE FROM app.audit_checkpoints"),
}
_UNGUARDED = (
    "ALTER TABLE core.call_audit DISABLE TRIGGER USER",
    "ALTER TABLE core.call_audit DROP CONSTRAINT call_audit_hash, DROP CONSTRAINT call_audit_pkey,"
    " DROP CONSTRAINT call_audit_hash_key, DROP CONSTRAINT call_audit_previous_key, DROP CONSTRAINT call_audit_entry_id_key",
    "ALTER TABLE core.checkpoints DROP CONSTRAINT checkpoints_hash",
)


class Held:
    """A database as the code under test sees it: one connection, inside one transaction."""

    def __init__(self, raw: asyncpg.Connection) -> None:
        self.raw = raw

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Tx]:
        yield Tx(None, self.raw, None)  # type: ignore[arg-type]


@dataclass
class Witnesses:
    """`entries` as they were made. `raw`: the superuser's connections, by service."""

    held: dict[str, Held]
    keys: dict[str, SigningKey]
    public: PublicKeys
    entries: list[Entry] = field(default_factory=list)

    def raw(self, service: str) -> Any:
        return self.held[service].raw

    async def verify(self) -> dict[str, Any]:
        """What `schleuse audit verify --json` prints."""
        verbs = {
            "connectors": AuditDesk(self.held["connectors"], self.public, None).verbs,  # type: ignore[arg-type]
            "bridge": WitnessDesk(self.held["bridge"], self.public).verbs,  # type: ignore[arg-type]
            "console": CopyDesk(self.held["console"], self.public).verbs,  # type: ignore[arg-type]
        }
        loop = asyncio.get_running_loop()

        def ask(service: str, verb: str, args: dict[str, Any]) -> dict[str, Any]:
            return asyncio.run_coroutine_threadsafe(verbs[service][verb](args), loop).result()  # type: ignore[arg-type]

        return await asyncio.to_thread(call_audit.verify, ask, lambda: None)

    def checkpoint(self, size: int, root: str, at: datetime | None = None) -> Signed:
        key = self.keys["audit"]
        return key.sign(Checkpoint(key_id=key.key_id, size=size, root=root, at=at or now()))

    def witness(self, signed: Signed, size: int, root: str) -> Signed:
        key = self.keys["witness"]
        return key.sign(Witness(key_id=key.key_id, checkpoint_hash=signed.hash, size=size, root=root, at=now()))

    async def sign(self, size: int, root: str) -> None:
        """A checkpoint as all three keep it."""
        signed = self.checkpoint(size, root)
        said, witness = Checkpoint.from_bytes(signed.payload), self.witness(signed, size, root)
        own, bridge, console = (Tx(None, self.raw(each), None) for each in ("connectors", "bridge", "console"))  # type: ignore[arg-type]
        await audit.add_checkpoint(own, said, signed)
        await audit.add_witness(own, signed.hash, witness)
        await lock.add_checkpoint(bridge, said, signed, witness)
        await store.add_checkpoint(console, said, signed, witness)


def chain(length: int, head: Head | None = None, word: str = "") -> list[Entry]:
    """Entries after `head`, of an hour ago."""
    found: list[Entry] = []
    head = head or Head()
    for number in range(length):
        note = Note(
            uuid4(), "agent", "chat", "ok", "user:7", "llm", f"https://{number}.example/{word}", "200", secret="s v1"
        )
        found.append(make_entry(note, head, new_id(), now() - timedelta(hours=1)))
        head = Head(found[-1].seq, found[-1].hash)
    return found


async def _fill(made: Witnesses) -> None:
    made.entries = chain(LENGTH)
    await audit.add_entries(Tx(None, made.raw("connectors"), None), made.entries)  # type: ignore[arg-type]
    rows = [v2.CallAudited.model_validate_json(each.event).model_dump_json() for each in made.entries]
    await made.raw("console").execute(_COPY, f"[{','.join(rows)}]")
    await made.raw("bridge").executemany(_CROSS, [(each.seq, each.hash) for each in made.entries])
    for size in SIZES:
        await made.sign(size, made.entries[size - 1].hash)


async def _prepare_console(servers: Servers) -> None:
    db = Database(servers.settings("console"), pool_size=1)
    await db.start()
    await create_missing(db, app)
    await db.stop()


@asynccontextmanager
async def witnessed(servers: Servers) -> AsyncIterator[Witnesses]:
    """An audit that holds; nothing guards it any more. Everything is taken back."""
    await _prepare_console(servers)
    keys = {
        "audit": SigningKey.load(servers.state / "keys" / "connectors" / "audit.key"),
        "witness": SigningKey.load(servers.state / "keys" / "bridge" / "witness.key"),
    }
    async with AsyncExitStack() as stack:
        held: dict[str, Held] = {}
        for service, statements in _OPEN.items():
            raw = await asyncpg.connect(
                host=str(servers.state / "run" / "pg"), user=SUPERUSER, database=DATABASES[service]
            )
            stack.push_async_callback(raw.close)
            begun = raw.transaction()
            await begun.start()
            stack.push_async_callback(begun.rollback)
            held[service] = Held(raw)
            await _run(raw, ("SET LOCAL lock_timeout = '20s'", *statements))
        made = Witnesses(held, keys, PublicKeys.load(servers.settings("connectors").public_keys))
        await _fill(made)
        await _run(made.raw("connectors"), _UNGUARDED)
        yield made


async def _run(raw: asyncpg.Connection, statements: Sequence[str]) -> None:
    for each in statements:
        await raw.execute(each)
