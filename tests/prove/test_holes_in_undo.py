"""Holes through which a verdict could be taken back, or given twice, against the rules of the lock."""

import pytest

from infra.postgres.core import declared
from infra.prove.areas.definitions import check_definitions
from infra.prove.areas.undo import check_rows
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, by_sql, named, see

pytestmark = pytest.mark.stack
BRIDGE = "console_site_db"
TRIGGER = "CREATE TRIGGER check_decision BEFORE INSERT ON core.decisions FOR EACH ROW EXECUTE FUNCTION core.check_decision()\nALTER TABLE core.decisions ENABLE ALWAYS TRIGGER check_decision"
ONE_VERDICT = "CREATE UNIQUE INDEX decisions_one_verdict ON core.decisions (item_id, revision, round) WHERE verdict IN ('approve', 'reject', 'request_changes')"
ONCE = "CREATE UNIQUE INDEX decisions_undone_once ON core.decisions (undoes) WHERE undoes IS NOT NULL"
NAMES_ONE = "ALTER TABLE core.decisions ADD CONSTRAINT decisions_undo_names_one CHECK (CASE verdict WHEN 'undo' THEN undoes IS NOT NULL WHEN 'approve' THEN true ELSE undoes IS NULL END)"
[FUNCTION] = [each for each in declared("bridge").sql if "FUNCTION core.check_decision()" in each and "DECLARE" in each]
SLOW = FUNCTION.replace("interval '10 minutes 5 seconds'", "interval '10 days'")
BLIND = FUNCTION.replace("count(*) +", "count(*) * 0 + (random() * 1000000)::int +")


def by_function(name: str, examine: Examine, found_by: str, text: str) -> Hole:
    """Another body of the trigger's function, and its own again to the letter."""
    return Hole(name, examine, found_by, lambda stack: replaced(stack, text), lambda stack: replaced(stack, FUNCTION))


def replaced(stack: Stack, text: str) -> None:
    answer = stack.ask_database("pgadm", BRIDGE, text)
    assert isinstance(answer, list), answer


HOLES = [
    by_function("ten days instead of ten minutes", check_rows, "an undo after eleven minutes", SLOW),
    by_function("rounds that nobody counts", check_rows, "two verdicts after an undo", BLIND),
    by_function("a function that was changed", check_definitions, "core.check_decision()", SLOW),
    by_sql("no key for one verdict a round", check_rows, "two verdicts after an undo", BRIDGE, "DROP INDEX core.decisions_one_verdict", ONE_VERDICT),
    by_sql("no key for one undo", check_definitions, "decisions_undone_once", BRIDGE, "DROP INDEX core.decisions_undone_once", ONCE),
    by_sql("an undo of nothing", check_rows, "an undo that names nothing", BRIDGE, "ALTER TABLE core.decisions DROP CONSTRAINT decisions_undo_names_one", NAMES_ONE),
    by_sql("no trigger", check_rows, "an undo of another item's decision", BRIDGE, "DROP TRIGGER check_decision ON core.decisions", TRIGGER),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
