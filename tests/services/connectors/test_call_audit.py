"""The call audit is one chain (rule 17)."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest

from infra.observe.doing.session import session
from infra.postgres.settings import SUPERUSER
from services.connectors.audit import store
from services.connectors.audit.closing import LostCalls
from services.connectors.audit.domain import make_entry
from services.connectors.audit.log import AuditLog, Note
from services.connectors.audit.query import read_query
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.search_audit import search_audit
from services.connectors.audit.usecases.sign_checkpoint import sign_checkpoint
from services.connectors.audit.usecases.verify_audit import verify_audit
from services.connectors.tables import app
from shared.clock import now
from shared.db import Database, Tx, create_missing
from shared.errors import Permanent, Transient
from shared.health import Health
from shared.ids import new_id
from shared.outbox.sweep import Sweep
from shared.signing import PublicKeys, SigningKey
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
    db: Database, keys: PublicKeys, servers: Servers
) -> None:
    """Most of them share a transaction, and so a time, with others."""
    before = (await verify_audit(db, keys))["entries"]
    replicas = [Database(servers.settings("connectors"), pool_size=2) for _ in range(3)]
    logs = [AuditLog(each, Health("connectors")) for each in replicas]
    parts: list[Database | AuditLog] = [*replicas, *logs]
    for each in parts:
        await each.start()
    mark = uuid4().hex
    await asyncio.gather(*(logs[n % 3].append(note(target=mark, status=str(n))) for n in range(200)))
    for each in reversed(parts):
        await each.stop()
    report = await verify_audit(db, keys)
    assert report["ok"] and report["entries"] == before + 200, report
    async with db.reading() as tx:
        rows = await tx.raw.fetch(
            "SELECT seq, status, noted_at FROM core.call_audit WHERE target = $1 ORDER BY seq", mark
        )
    assert [row["seq"] for row in rows] == list(range(before, before + 200))
    assert {row["status"] for row in rows} == {str(n) for n in range(200)}
    assert len({row["noted_at"] for row in rows}) < 100, "many share a commit"


async def test_each_entry_is_published_once(db: Database) -> None:
    await record(db)
    async with db.reading() as tx:
        entries = await tx.raw.fetchval("SELECT count(*) FROM core.call_audit")
        events = await tx.raw.fetchval("SELECT count(*) FROM app.outbox WHERE name = 'call.audited'")
    assert entries == events


FORBIDDEN = (
    "UPDATE core.call_audit SET seq = 0",
    "UPDATE core.call_audit SET noted_at = now()",
    "DELETE FROM core.call_audit WHERE noted_at < now() - interval '90 days'",
    "TRUNCATE core.call_audit",
    "DROP TABLE core.call_audit",
    "ALTER TABLE core.call_audit DISABLE TRIGGER USER",
    "INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous, noted_at) VALUES (0, gen_random_uuid(), '', '', '', '2020-01-01')",
    "INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous, on_behalf_of) VALUES (0, gen_random_uuid(), '', '', '', 'user:8')",
    "UPDATE core.checkpoints SET size = 1",
    "DELETE FROM core.witnesses",
)


async def test_au_03_no_role_of_a_service_changes_the_audit(db: Database, servers: Servers) -> None:
    """Also while the cleanup of what was sent is running. The other roles do not even come in."""
    await record(db)
    sweep = Sweep(db, Health("connectors"), servers.state)
    await sweep.start()
    async with db.reading() as tx:
        before = await tx.raw.fetchval("SELECT count(*) FROM core.call_audit")
    for statement in FORBIDDEN:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with db.transaction() as tx:
                await tx.raw.execute(statement)
    for role in ("agent", "console", "site", "bridge"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await asyncpg.connect(host=str(servers.state / "run" / "pg"), user=role, database="system_db")
    await sweep.stop()
    async with db.reading() as tx:
        assert await tx.raw.fetchval("SELECT count(*) FROM core.call_audit") == before


async def test_au_03_an_entry_with_an_old_date_is_refused(db: Database) -> None:
    with pytest.raises(asyncpg.CheckViolationError, match="when it happens"):
        async with db.transaction() as tx:
            old = make_entry(note(), await store.lock_audit(tx), new_id(), now() - timedelta(days=100))
            await store.add_entries(tx, [old])


async def test_an_entry_that_does_not_continue_the_chain_is_refused(db: Database) -> None:
    sql = """INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
      VALUES (1000000, gen_random_uuid(), 'x', encode(sha256('x'), 'hex'), repeat('a', 64))"""
    with pytest.raises(asyncpg.CheckViolationError, match="continues"):
        async with db.transaction() as tx:
            await tx.raw.execute(sql)


UNAVAILABLE = {
    "no right to write": ("REVOKE INSERT ON core.call_audit FROM connectors", "GRANT INSERT (seq, entry_id, entry, hash, previous) ON core.call_audit TO connectors"),
    "the disk is full": (
        "CREATE FUNCTION core.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;"
        "CREATE TRIGGER full_disk BEFORE INSERT ON core.call_audit FOR EACH ROW EXECUTE FUNCTION core.full_disk();"
        "ALTER TABLE core.call_audit ENABLE ALWAYS TRIGGER full_disk",
        "DROP TRIGGER full_disk ON core.call_audit; DROP FUNCTION core.full_disk()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", UNAVAILABLE)
async def test_an_audit_that_cannot_be_written_refuses_and_recovers_by_itself(
    db: Database, servers: Servers, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.connectors.audit.log.AGAIN", 0.05)
    health, (broken, mended) = Health("connectors"), UNAVAILABLE[why]
    log = AuditLog(db, health)
    await log.start()
    async with session(servers.state, SUPERUSER, "system_db") as admin:
        await admin.execute(broken)
        try:
            with pytest.raises(Transient) as refused:
                await log.append(note())
            assert refused.value.code == "audit" and "nothing left" in refused.value.message
            assert not health.conditions["audit"].ok and "every call is refused" in health.conditions["audit"].detail
        finally:
            await admin.execute(mended)
    async with asyncio.timeout(10):
        while not health.conditions["audit"].ok:
            await asyncio.sleep(0.05)  # nobody calls meanwhile
    await log.append(note())
    await log.stop()
    with pytest.raises(Transient, match="stopping"):
        await log.append(note())


async def test_an_audit_that_hangs_refuses_in_time(
    db: Database, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.connectors.audit.log.PATIENCE", 0.2)
    log = AuditLog(db, Health("connectors"))
    await log.start()
    async with session(servers.state, SUPERUSER, "system_db") as admin, admin.transaction():
        await admin.execute("LOCK TABLE core.call_audit IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Transient, match=r"0\.2 s"):
            await log.append(note())
    await log.stop()


async def test_cv_04_what_cannot_be_stored_is_mended_and_the_entry_says_so(db: Database, keys: PublicKeys) -> None:
    """CV-04 and rule 19: every write succeeds; typed characters that look like an escape stay as they are."""
    async with db.transaction() as tx:
        (entry,) = await record_notes(tx, [note(target="a\x00b \ud800 \\u0000 C:\\u0041bc", detail="x" * 900)])
    found = (await search_audit(db, read_query({"call_id": json.loads(entry.bytes_)["call_id"]})))["entries"][0]
    assert found["target"] == "a\ufffdb \ufffd \\u0000 C:\\u0041bc"
    assert len(found["detail"]) == 500 and found["detail"].endswith("(text mended)")
    assert (await verify_audit(db, keys))["ok"]


async def test_calls_of_a_process_that_ended_are_lost_and_others_are_not(db: Database) -> None:
    log, mark = AuditLog(db, Health("connectors"), "connectors-9"), uuid4().hex
    await log.start()
    ended, open_call = note(target=mark), note(target=mark, secret="agent/llm/x v1")
    for each in (ended, open_call):
        await log.append(replace(each, outcome="begun"))
    await log.append(ended)
    await log.stop()
    part = LostCalls(db, "connectors-9")
    await part.start()
    async with asyncio.timeout(10):
        while (await search_audit(db, read_query({"target": mark, "outcome": "lost"})))["found"] == 0:
            await asyncio.sleep(0.02)
    await part.stop()
    found = (await search_audit(db, read_query({"target": mark})))["entries"]
    assert [(each["call_id"], each["outcome"]) for each in found] == [
        (str(open_call.call_id), "lost"),
        (str(ended.call_id), "ok"),
        (str(open_call.call_id), "begun"),
        (str(ended.call_id), "begun"),
    ]
    assert found[0]["secret"] == "agent/llm/x v1" and found[2]["status"] == "connectors-9"


async def test_a_checkpoint_is_signed_once_and_never_over_a_contradiction(
    db: Database, servers: Servers, keys: PublicKeys
) -> None:
    key = SigningKey.load(servers.settings("connectors").keys / "audit.key")
    await record(db)
    async with db.transaction() as tx:
        size = await sign_checkpoint(tx, key)
    async with db.transaction() as tx:
        assert await sign_checkpoint(tx, key) == size, "nothing new, nothing signed"
    report = await verify_audit(db, keys)
    assert report["ok"] and report["checkpoints"]["size"] == size == report["entries"]
    async with session(servers.state, SUPERUSER, "system_db") as admin:
        begun = admin.transaction()
        await begun.start()
        await admin.execute("ALTER TABLE core.call_audit DISABLE TRIGGER USER")
        await admin.execute("DELETE FROM core.call_audit WHERE seq = (SELECT max(seq) FROM core.call_audit)")
        with pytest.raises(Permanent, match="is not what its checkpoint"):
            await sign_checkpoint(Tx(None, admin, None), key)  # type: ignore[arg-type]
        await begun.rollback()
