"""Holes between owners: row security that is off, not forced, opened by a second policy, or looked past (architecture 4, DB-03)."""

import pytest

from infra.postgres.owned import MINE, POLICY
from infra.prove.areas.catalogue import check_catalogue
from infra.prove.areas.definitions import check_definitions
from infra.prove.areas.row_security import check_declared, check_division
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
AGENT, CARDS = "agent_db", "core.action_cards"
ANEW = f"DROP POLICY {POLICY} ON {CARDS}\nCREATE POLICY {POLICY} ON {CARDS} USING ({MINE}) WITH CHECK ({MINE})"
OFF, ON = f"ALTER TABLE {CARDS} DISABLE ROW LEVEL SECURITY", f"ALTER TABLE {CARDS} ENABLE ROW LEVEL SECURITY"
LAX, FORCED = f"ALTER TABLE {CARDS} NO FORCE ROW LEVEL SECURITY", f"ALTER TABLE {CARDS} FORCE ROW LEVEL SECURITY"
SECOND, NO_SECOND = f"CREATE POLICY more ON {CARDS} FOR SELECT USING (true)", f"DROP POLICY more ON {CARDS}"
KIND_ONLY = f"ALTER POLICY {POLICY} ON {CARDS} USING (owner_id = current_setting('app.owner_id', true))"
PATTERN = f"ALTER POLICY {POLICY} ON {CARDS} USING (owner_id LIKE current_setting('app.owner_id', true))"
VIEW, NO_VIEW = f"CREATE VIEW app.cards_of_all AS SELECT * FROM {CARDS}", "DROP VIEW app.cards_of_all"
KEPT, NOT_KEPT = VIEW.replace("VIEW", "MATERIALIZED VIEW"), NO_VIEW.replace("VIEW", "MATERIALIZED VIEW")
PEEK = f"CREATE FUNCTION core.peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM {CARDS}'"

HOLES = [
    by_sql("row security not forced upon its owner", check_declared, "on and forced", AGENT, LAX, FORCED),
    by_sql("a second policy, by using it", check_division, "for nobody: read", AGENT, SECOND, NO_SECOND),
    by_sql("a view over what is divided", check_declared, "no view looks at", AGENT, VIEW, NO_VIEW),
]  # fmt: skip
MORE = [
    by_sql("row security off, by using it", check_division, "for another user: read", AGENT, OFF, ON),
    by_sql("a policy that forgets the kind, by using it", check_division, "for the guest of that name: read", AGENT, KIND_ONLY, ANEW),
    by_sql("row security off", check_declared, "on and forced", AGENT, OFF, ON),
    by_sql("row security off, in the definitions", check_definitions, "action_cards: row security", AGENT, OFF, ON),
    by_sql("a second policy", check_declared, "no other one", AGENT, SECOND, NO_SECOND),
    by_sql("a policy that takes patterns, by using it", check_division, "for a pattern: read", AGENT, PATTERN, ANEW),
    by_sql("a materialised view over what is divided", check_declared, "no view looks at", AGENT, KEPT, NOT_KEPT),
    by_sql("a function with its owner's rights that nobody declared", check_catalogue, "core.peek", AGENT, PEEK, "DROP FUNCTION core.peek()"),
    by_sql("a table of owners that is not divided", check_declared, "names an owner", AGENT, "CREATE TABLE core.loose (owner_id text)", "DROP TABLE core.loose"),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
