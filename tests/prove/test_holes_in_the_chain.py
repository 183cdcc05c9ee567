"""Rows that were changed behind the gate's back (S1, S6)."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from infra.prove.areas import chain
from infra.prove.areas.chain import check_logs
from infra.prove.areas.outward import check_outward
from infra.prove.check import Book
from shared.clock import now
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, named, run, see

pytestmark = pytest.mark.stack
ROWS = "every row is covered by its receipt"
UNLOCK = "ALTER TABLE core.gate_log DISABLE TRIGGER no_change"
LOCK = "ALTER TABLE core.gate_log ENABLE ALWAYS TRIGGER no_change"


def entries(name: str, plant: str, heal: str) -> Hole:
    """A row of the published item, changed and changed back."""
    where = "WHERE path = 'stays'"
    return by_sql(
        name,
        check_logs,
        ROWS,
        "site_db",
        f"UPDATE app.entries SET {plant} {where}",
        f"UPDATE app.entries SET {heal} {where}",
    )


def log(name: str, plant: str, heal: str, found_by: str) -> Hole:
    change = f"{UNLOCK}\nUPDATE core.gate_log SET {{}} WHERE seq = 0\n{LOCK}"
    return by_sql(name, check_logs, found_by, "console_site_db", change.format(plant), change.format(heal))


TWICE = "overlay(statement PLACING convert_to('{\"audience\":\"members\",', 'UTF8') FROM 1 FOR 1)"
ONCE = "convert_to('{', 'UTF8') || substring(statement FROM length('{\"audience\":\"members\",') + 1)"
HOLES = [
    entries("another audience", "audience = 'members'", "audience = 'public'"),
    entries("another path", "lang = 'de'", "lang = 'en'"),
    entries("a swapped body", "content = convert_to('x', 'UTF8') || content", "content = substring(content FROM 2)"),
    entries("duplicate keys in a stored statement", f"statement = {TWICE}", f"statement = {ONCE}"),
    entries("another place in the log", "seq = seq + 1", "seq = seq - 1"),
    by_sql("tombstone deleted", check_logs, "every withdrawn item has its tombstone", "site_db", "CREATE TABLE app.kept AS SELECT * FROM app.tombstones\nDELETE FROM app.tombstones", "INSERT INTO app.tombstones SELECT * FROM app.kept\nDROP TABLE app.kept"),
    by_sql("no head that the gate signed", check_logs, "younger than 24 hours", "site_db", "UPDATE app.sealed_heads SET key_id = 'x' || key_id", "UPDATE app.sealed_heads SET key_id = substring(key_id FROM 2)"),
    log("an entry with another signature", "signature = set_byte(signature, 0, get_byte(signature, 0) # 1)", "signature = set_byte(signature, 0, get_byte(signature, 0) # 1)", "the gate's log follows from its bytes"),
    log("an entry for another statement", "statement = statement || '\\x20'::bytea", "statement = substring(statement FROM 1 FOR length(statement) - 1)", "the gate's log follows from its bytes"),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_withdrawn_row_put_back_is_found(proving: Proving) -> None:
    """The tombstone deleted and the old row put back, with its real signatures."""
    receipt = "entry, signature, key_id, statement, statement_signature, statement_key_id"
    [old] = proving.stack.rows(
        "site",
        f"SELECT item_id, seq, encode(entry, 'hex') AS entry FROM app.gate_entries WHERE kind = 'publication' AND item_id = '{proving.withdrawn.item_id}'",
    )
    put = f"INSERT INTO app.entries (item_id, seq, kind, lang, path, audience, content_hash, {receipt}, content) SELECT item_id, seq, 'doc', 'en', 'goes', 'public', 'x', {receipt}, '\\x00' FROM app.gate_entries WHERE seq = {old['seq']}"

    def plant(stack: Stack) -> None:
        run(
            stack,
            "site_db",
            f"CREATE TABLE app.kept AS SELECT * FROM app.tombstones\nDELETE FROM app.tombstones\n{put}",
        )

    def heal(stack: Stack) -> None:
        run(
            stack,
            "site_db",
            f"DELETE FROM app.entries WHERE item_id = '{proving.withdrawn.item_id}'\nINSERT INTO app.tombstones SELECT * FROM app.kept\nDROP TABLE app.kept",
        )

    see(Hole("put back", check_logs, "was withdrawn", plant, heal), proving.stack)


OUTWARD = """INSERT INTO app.outbox (event_id, name, subject, lane, key, keyversion, body, headers)
 VALUES ('{id}', 'item.published', 'to.site.item.published', 'site.control', 'probe', 1, convert_to('{body}', 'UTF8'), '{headers}')"""
FRESH, TIMED = "5b4b8f6c-6c43-4f0e-9d0c-0d5f6a1c2b3a", "0198f6c0-6c43-7f0e-9d0c-0d5f6a1c2b3a"
SEALED = '{"Schleuse-Seal": "x"}'


@pytest.mark.parametrize(
    ("row", "found_by"),
    [
        ({"id": FRESH, "body": '{"correlationid": "ada@example.org"}', "headers": SEALED}, "correlationid"),
        ({"id": FRESH, "body": '{"actor": "ada"}', "headers": SEALED}, "actor"),
        ({"id": TIMED, "body": "{}", "headers": SEALED}, "fresh ids"),
        ({"id": FRESH, "body": "{}", "headers": '{"Schleuse-Seal": "x", "baggage": "x"}'}, "baggage"),
        ({"id": FRESH, "body": "{}", "headers": "{}"}, "sealed"),
    ],
)
def test_something_from_inside_on_its_way_out_is_found(proving: Proving, row: dict[str, str], found_by: str) -> None:
    """A row of the outbox that was never put among those to be sent (S14)."""
    put = OUTWARD.format(**row).replace("\n", "")
    see(
        by_sql(
            "outward", check_outward, found_by, "console_site_db", put, "DELETE FROM app.outbox WHERE key = 'probe'"
        ),
        proving.stack,
    )


@dataclass(frozen=True)
class Behind:
    """A target whose site stands where an old backup left it: sound in itself, and not where the gate's log is."""

    site: dict[str, Any]

    async def run(self, user: str, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if attempts[0]["kind"] == "rows":
            return [{"got": "done", "value": [["b" * 64]]}]
        bridge = {"seq": 5, "head": "a" * 64, "fault": "", "contents": []}
        return [{"got": "done", "value": bridge if user == "bridge" else self.site}]


@pytest.mark.parametrize(
    ("changes", "found_by"),
    [
        ({"seq": 3, "head": "b" * 64, "state": [3, "b" * 64]}, "it has followed the gate's log"),
        ({"seq": 5, "head": "c" * 64, "state": [5, "c" * 64]}, "its copy is the gate's log"),
        ({"seq": 5, "head": "b" * 64, "state": [4, "d" * 64]}, "its head is that of its copy"),
        ({"newest_head": {"seq": 5, "head": "b" * 64, "at": "2020-01-01T00:00:00+00:00"}}, "younger than 24 hours"),
        ({"newest_head": {"seq": 9, "head": "b" * 64, "at": "2020-01-01T00:00:00+00:00"}}, "lies in the log"),
    ],
)
async def test_an_old_backup_and_a_lost_withdrawal_are_found(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], found_by: str
) -> None:
    monkeypatch.setattr(chain, "CATCH_UP_SECONDS", 0.0)
    here = {"seq": 5, "head": "b" * 64, "fault": "", "rows": [], "missing": [], "graves": [], "state": [5, "b" * 64]}
    newest = {"seq": 5, "head": "b" * 64, "at": now().isoformat()}
    book = Book("test")
    await check_logs(cast(Any, Behind({**here, "newest_head": newest})), book)
    assert not failures(book.checks)
    await check_logs(cast(Any, Behind({**here, "newest_head": newest, **changes})), book)
    assert any(found_by in check.attempt for check in failures(book.checks))
