"""Holes through which other bytes could come to the public than those that were approved."""

import pytest

from infra.prove.areas.attachments import check_kept, check_rows
from infra.prove.areas.definitions import check_definitions
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
CHECK = "CHECK (hash = encode(sha256(data), 'hex'))"
SITE_OFF = "ALTER TABLE app.attachments DROP CONSTRAINT attachments_hash"
SITE_ON = f"ALTER TABLE app.attachments ADD CONSTRAINT attachments_hash {CHECK}"
KEPT_OFF, KEPT_ON = (each.replace("app.", "core.") for each in (SITE_OFF, SITE_ON))

HOLES = [
    by_sql("rows of any bytes at the site", check_rows, "other bytes than the hash says", "site_db", SITE_OFF, SITE_ON),
    by_sql("any bytes kept at the lock", check_kept, "bytes under another hash", "console_site_db", KEPT_OFF, KEPT_ON),
    by_sql(
        "no check of the hash at the lock", check_definitions, "attachments_hash", "console_site_db", KEPT_OFF, KEPT_ON
    ),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
