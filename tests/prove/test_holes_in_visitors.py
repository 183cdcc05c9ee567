"""Holes through which a share link could be opened twice, or a comment come in by another door."""

import pytest

from infra.prove.areas.definitions import check_definitions
from infra.prove.areas.visitors import check_rows
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
BRIDGE = "console_site_db"
ONCE = "ALTER TABLE core.link_changes ADD CONSTRAINT link_changes_once UNIQUE (link_id, action)"
PEOPLE = (
    "ALTER TABLE core.link_changes ADD CONSTRAINT link_changes_by_people CHECK (via IN ('console', 'api', 'operator'))"
)
ACTION = "ALTER TABLE core.link_changes ADD CONSTRAINT link_changes_action CHECK (action IN ('open', 'close'))"
TOKEN = "CREATE UNIQUE INDEX link_changes_one_token ON core.link_changes (token_hash) WHERE action = 'open'"

HOLES = [
    by_sql("links that open twice", check_rows, "opened again after it was closed", BRIDGE, "ALTER TABLE core.link_changes DROP CONSTRAINT link_changes_once", ONCE),
    by_sql("links by agents", check_rows, "that an agent opens", BRIDGE, "ALTER TABLE core.link_changes DROP CONSTRAINT link_changes_by_people", PEOPLE),
    by_sql("one token for two links", check_rows, "with the same token", BRIDGE, "DROP INDEX core.link_changes_one_token", TOKEN),
    by_sql("links whose constraint nobody declared", check_definitions, "link_changes", BRIDGE, "ALTER TABLE core.link_changes DROP CONSTRAINT link_changes_action", ACTION),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
