"""Lessons, behavior and virtual tools laid open behind the agent's back: prove finds what could then be rewritten, washed or read."""

import pytest

from infra.prove.areas.habits import check_rows
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def granted(name: str, found_by: str, right: str) -> Hole:
    return hole(name, found_by, f"GRANT {right} TO agent", f"REVOKE {right} FROM agent")


HOLES = [
    granted("lessons that can be rewritten", "rewrite a lesson", "UPDATE (conclusion) ON core.lessons"),
    granted("lessons that forget where they came from", "wash a lesson", "UPDATE (sources) ON core.lessons"),
    granted("lessons that say when they were", "a lesson with a time of its own", "INSERT (at) ON core.lessons"),
    granted("tools that can be rewritten", "rewrite what a tool does", "UPDATE (prompt) ON core.virtual_tools"),
    hole("behavior that can be rewritten", "rewrite a behavior that was", "GRANT UPDATE (text) ON core.behavior_versions TO agent\nALTER TABLE core.behavior_versions DISABLE TRIGGER no_change", "REVOKE UPDATE (text) ON core.behavior_versions FROM agent\nALTER TABLE core.behavior_versions ENABLE ALWAYS TRIGGER no_change"),
    hole("lessons that are everybody's", "a lesson of another owner", "ALTER TABLE core.lessons DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.lessons ENABLE ROW LEVEL SECURITY"),
    hole("behavior that everybody reads", "read another owner's behavior", "CREATE POLICY open ON core.behavior_versions FOR SELECT USING (true)", "DROP POLICY open ON core.behavior_versions"),
    hole("tools that everybody switches", "switch another owner's tool off", "CREATE POLICY open ON core.virtual_tools USING (true)", "DROP POLICY open ON core.virtual_tools"),
    hole("tools of any name", "a tool with a name that is none", "ALTER TABLE core.virtual_tools DROP CONSTRAINT virtual_tools_name", "ALTER TABLE core.virtual_tools ADD CONSTRAINT virtual_tools_name CHECK (name ~ '^[a-z][a-z0-9_]{0,63}$')"),
]  # fmt: skip


@pytest.mark.parametrize("planted", named(HOLES))
def test_a_planted_hole_in_habits_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)
