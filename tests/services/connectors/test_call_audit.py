"""The call audit is one chain (rule 17)."""

import asyncio

import asyncpg
import pytest

from services.connectors.audit.log import AuditLog, Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.verify_audit import verify_audit
from services.connectors.tables import app
from shared.db import Database, create_missing
from shared.health import Health
from shared.ids import new_id
from shared.signing import PublicKeys
from shared.testing.servers import Servers


@pytest.fixture
async def db(servers: Servers):  # type: ignore[no-untyped-def]
    found = Database(servers.settings("connectors"), pool_size=4)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await found.stop()


@pytest.fixture
def keys(servers: Servers) -> PublicKeys:
    return PublicKeys.load(servers.settings("connectors").public_keys)


def note(**more: object) -> Note:
    said: dict[str, object] = {
        "call_id": new_id(),
        "asker": "agent",
        "connector": "web",
        "operation": "fetch",
        "outcome": "ok",
    }
    return Note(**(said | more))  # type: ignore[arg-type]


async def record(db: Database) -> None:
    async with db.transaction() as tx:
        await record_notes(tx, [note()])


async def test_appends_never_fork_under_concurrency(db: Database, keys: PublicKeys) -> None:
    before = (await verify_audit(db, keys))["entries"]
    await asyncio.gather(*(record(db) for _ in range(20)))
    report = await verify_audit(db, keys)
    assert report["ok"], report
    assert report["entries"] == before + 20


async def test_au_01_parallel_appends_of_three_replicas_neither_fork_nor_leave_a_gap(
    db: Database, keys: PublicKeys
) -> None:
    before = (await verify_audit(db, keys))["entries"]
    logs = [AuditLog(db, Health("connectors")) for _ in range(3)]
    for log in logs:
        await log.start()
    await asyncio.gather(*(logs[n % 3].append(note(status=str(n))) for n in range(200)))
    for log in logs:
        await log.stop()
    report = await verify_audit(db, keys)
    assert report["ok"] and report["entries"] == before + 200, report


async def test_each_entry_is_published_once(db: Database) -> None:
    await record(db)
    async with db.reading() as tx:
        entries = await tx.raw.fetchval("SELECT count(*) FROM core.call_audit")
        events = await tx.raw.fetchval("SELECT count(*) FROM app.outbox WHERE name = 'call.audited'")
    assert entries == events


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE core.call_audit SET seq = 0",
        "DELETE FROM core.call_audit",
        "TRUNCATE core.call_audit",
        "DROP TABLE core.call_audit",
    ],
)
async def test_the_audit_cannot_be_rewritten(db: Database, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with db.transaction() as tx:
            await tx.raw.execute(statement)


async def test_an_entry_that_does_not_continue_the_chain_is_refused(db: Database) -> None:
    sql = """INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
      VALUES (1000000, gen_random_uuid(), 'x', encode(sha256('x'), 'hex'), repeat('a', 64))"""
    with pytest.raises(asyncpg.CheckViolationError, match="continues"):
        async with db.transaction() as tx:
            await tx.raw.execute(sql)
