"""A call audit that an earlier release wrote: its entries stay what they are, and can be searched and verified beside the new ones."""

from datetime import timedelta
from uuid import uuid4

import asyncpg

from infra.observe.doing.session import session
from infra.postgres.cluster import provision_schemas
from infra.postgres.core import declared, provision_core
from infra.postgres.settings import SUPERUSER
from schemas.connectors.v1 import CallAudited
from schemas.text import canonical, sha256
from services.connectors.audit import store, views
from services.connectors.audit.domain import Head, Note, make_entry
from services.connectors.audit.query import read_query
from services.connectors.audit.usecases.verify_audit import Recount
from shared.clock import now
from shared.db import Tx
from shared.ids import new_id
from shared.testing.servers import Servers

OLD = """
SET ROLE connectors_owner;
CREATE TABLE core.call_audit (seq bigint PRIMARY KEY, entry_id uuid NOT NULL UNIQUE, entry bytea NOT NULL, hash text NOT NULL UNIQUE,
  previous text NOT NULL UNIQUE, written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT call_audit_hash CHECK (hash = encode(sha256(entry), 'hex')));
CREATE FUNCTION core.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = '42501'; END $$;
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON core.call_audit FOR EACH ROW EXECUTE FUNCTION core.refuse_change();
ALTER TABLE core.call_audit ENABLE ALWAYS TRIGGER no_change;
RESET ROLE"""
"""How release 0.2.0 declared it."""


async def fill(admin: asyncpg.Connection) -> Head:
    head = Head()
    for number in range(3):
        said = CallAudited(
            entry_id=uuid4(), seq=number, at=now() - timedelta(days=9), asker="operator", connector="self_check", operation="ping",
            target=f"old {number}", outcome="ok",
        )  # fmt: skip
        raw = canonical(said.model_dump(mode="json") | {"previous": head.hash})
        await admin.execute(
            "INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous) VALUES ($1, $2, $3, $4, $5)",
            number, said.entry_id, raw, sha256(raw), head.hash,
        )  # fmt: skip
        head = Head(number, sha256(raw))
    return head


async def test_entries_of_an_earlier_release_are_kept_searched_and_verified(postgres: Servers) -> None:
    async with session(postgres.state, SUPERUSER, "postgres") as admin:
        await admin.execute("DROP DATABASE IF EXISTS audit_scratch")
        await admin.execute("CREATE DATABASE audit_scratch")
        try:
            async with session(postgres.state, SUPERUSER, "audit_scratch") as database:
                await provision_schemas(database, "connectors")
                await database.execute(OLD)
                head = await fill(database)
                for _ in range(2):  # a second start changes nothing
                    await provision_core(database, "connectors", declared("connectors"))
                tx = Tx(None, database, None)  # type: ignore[arg-type]
                await store.add_entries(tx, [make_entry(Note(uuid4(), "agent", "chat", "ok"), head, new_id(), now())])
                found = Recount()
                found.take(await store.entries_after(tx, -1, 100))
                assert (found.head.seq, found.first_bad, found.reason) == (3, None, "")
                assert [each["target"] for each in await views.search(tx, read_query({"asker": "operator"}))] == ["old 2", "old 1", "old 0"]  # fmt: skip
                columns = await database.fetch("SELECT attname FROM pg_attribute WHERE attrelid = 'core.call_audit'::regclass AND NOT attisdropped")  # fmt: skip
                assert "written_at" not in {row[0] for row in columns}
        finally:
            await admin.execute("DROP DATABASE audit_scratch")
