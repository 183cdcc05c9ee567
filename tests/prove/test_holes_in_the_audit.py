"""The call audit, changed behind the connectors' back: whoever does it contradicts a witness (rule 17)."""

from collections.abc import Iterator

import pytest

from infra.prove.areas.audit import PLACES, check_entries, check_forged, check_inserts
from infra.prove.target import Target
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, rows, see

pytestmark = pytest.mark.stack
OWN, LOCK, COPY = PLACES["connectors"], PLACES["bridge"], PLACES["console"]
_OPENED = "ALTER TABLE core.{0} DISABLE TRIGGER no_change\n{1}\nALTER TABLE core.{0} ENABLE ALWAYS TRIGGER no_change"
_FIRST = "WHERE seq = 0"


def own(name: str, table: str, plant: str, heal: str, found_by: str = OWN) -> Hole:
    return by_sql(name, check_entries, found_by, "system_db", _OPENED.format(table, plant), _OPENED.format(table, heal))


def lock(name: str, table: str, plant: str, heal: str) -> Hole:
    return by_sql(
        name, check_entries, LOCK, "console_site_db", _OPENED.format(table, plant), _OPENED.format(table, heal)
    )


def copy(name: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_entries, COPY, "console_db", plant, heal)


_FLIPPED = "signature = set_byte(signature, 0, get_byte(signature, 0) # 1)"
HOLES = [
    own("an entry found under another actor", "call_audit", f"UPDATE core.call_audit SET asker = asker || 'x' {_FIRST}", f"UPDATE core.call_audit SET asker = left(asker, -1) {_FIRST}"),
    own("an entry without its place", "call_audit", "UPDATE core.call_audit SET seq = -1000 WHERE seq = 1", "UPDATE core.call_audit SET seq = 1 WHERE seq = -1000"),
    own("a checkpoint with another signature", "checkpoints", f"UPDATE core.checkpoints SET {_FLIPPED}", f"UPDATE core.checkpoints SET {_FLIPPED}"),
    own("a forged countersignature", "witnesses", f"UPDATE core.witnesses SET {_FLIPPED}", f"UPDATE core.witnesses SET {_FLIPPED}"),
    own("checkpoints taken away", "checkpoints", "CREATE TABLE app.kept AS SELECT * FROM core.checkpoints\nDELETE FROM core.checkpoints", "INSERT INTO core.checkpoints SELECT * FROM app.kept\nDROP TABLE app.kept", LOCK),
    lock("another root in what the lock keeps", "audit_checkpoints", "UPDATE core.audit_checkpoints SET root = reverse(root)", "UPDATE core.audit_checkpoints SET root = reverse(root)"),
    lock("an entry that crossed with another hash", "crossings", "UPDATE core.crossings SET signature_hash = reverse(signature_hash) WHERE type = 'call.audited' AND keyversion = 1", "UPDATE core.crossings SET signature_hash = reverse(signature_hash) WHERE type = 'call.audited' AND keyversion = 1"),
    copy("another status in the console's copy", f"UPDATE app.calls SET status = status || 'x' {_FIRST}", f"UPDATE app.calls SET status = left(status, -1) {_FIRST}"),
    copy("an entry missing in the console's copy", "UPDATE app.calls SET seq = -1000 WHERE seq = 1", "UPDATE app.calls SET seq = 1 WHERE seq = -1000"),
    by_sql("the guard of the entries asleep", check_inserts, "an entry of the call audit with an old date", "system_db", "ALTER TABLE core.call_audit DISABLE TRIGGER check_call_entry", "ALTER TABLE core.call_audit ENABLE ALWAYS TRIGGER check_call_entry"),
    by_sql("the service may say when it was", check_inserts, "states when it was noted", "system_db", "GRANT INSERT (noted_at) ON core.call_audit TO connectors", "REVOKE INSERT (noted_at) ON core.call_audit FROM connectors"),
]  # fmt: skip


@pytest.fixture(scope="module")
def audited(proving: Proving) -> Iterator[Stack]:
    """Three entries and a checkpoint that all have."""
    stack = proving.stack
    for number in range(3):
        stack.ask("connectors", "calls.record", target=f"{number}.example")
    size = stack.ask("connectors", "audit.checkpoint")["size"]
    kept = {"connectors": "core.checkpoints c JOIN core.witnesses w ON w.checkpoint_hash = c.statement_hash", "bridge": "core.audit_checkpoints", "console": "app.audit_checkpoints"}  # fmt: skip
    until(
        lambda: all(
            stack.rows(service, f"SELECT 1 FROM {table} WHERE size = {size}") for service, table in kept.items()
        ),
        20,
    )
    until(lambda: stack.value("console", "SELECT max(seq) FROM app.calls") >= size - 1, 20)
    yield stack


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_in_the_audit_is_found(audited: Stack, hole: Hole) -> None:
    see(hole, audited)


def test_no_forged_checkpoint_is_witnessed(audited: Stack) -> None:
    found = rows(check_forged, Target.load(audited.state))
    assert [str(each) for each in found if each.failed] == [] and len(found) == 3
