"""What visitors did laid open behind the console's back: prove finds what would then be told of nobody, or by somebody."""

import pytest

from infra.prove.areas.analytics import check_rows
from infra.prove.target import Target
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, rows

pytestmark = pytest.mark.stack

_ROW = "INSERT INTO app.interactions (load, n, at, kind, lang, path, referrer, visitor, value) VALUES (9000000000000, 0, now(), 'view', '', '/planted', {}, {}, 0)"
_GONE = "DELETE FROM app.interactions WHERE load = 9000000000000"


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "console_db", plant, heal)


HOLES = [
    hole("deletions that nobody notes", "app.interactions note_delete_old", "ALTER TABLE app.interactions DISABLE TRIGGER note_delete_old", "ALTER TABLE app.interactions ENABLE TRIGGER note_delete_old"),
    hole("calls that nobody notes", "app.calls note_insert_new", "ALTER TABLE app.calls DISABLE TRIGGER note_insert_new", "ALTER TABLE app.calls ENABLE TRIGGER note_insert_new"),
    hole("a visitor with an address", "a pseudonym of the day", _ROW.format("''", "'192.0.2.7'"), _GONE),
    hole("a column for what they wrote", "is not among what they did", "ALTER TABLE app.interactions ADD COLUMN words text", "ALTER TABLE app.interactions DROP COLUMN words"),
    hole("a question without a reason", "without saying why", "INSERT INTO app.rollup_runs (by_name, engine, reason, question, milliseconds) VALUES ('planted', 'clickhouse', '', '{}', 1)", "DELETE FROM app.rollup_runs WHERE by_name = 'planted'"),
]  # fmt: skip


def test_planted_holes_in_analytics_are_found(proving: Proving) -> None:
    """All at once, and nothing is wrong once they are closed."""
    stack = proving.stack
    try:
        for each in HOLES:
            each.plant(stack)
        found = [f"{check.attempt} {check.got}" for check in failures(rows(check_rows, Target.load(stack.state)))]
    finally:
        for each in reversed(HOLES):
            each.heal(stack)
    missed = [each.name for each in HOLES if not any(each.found_by in row for row in found)]
    assert not missed, found
    left = failures(rows(check_rows, Target.load(stack.state)))
    assert not left, [str(check) for check in left]
