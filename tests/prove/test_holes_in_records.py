"""Holes through which a row could come into an app's table unseen, or a file stay that nobody imports."""

import pytest

from infra.prove.areas.records import check_rows, check_traces
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
CONSOLE = "console_db"
DECLARED = (
    '{"about":"","kind":"application","needs":[],"slug":"proberows","tables":[{"columns":[{"choices":[],"index":false,"name":"code","references":null,"required":false,'
    '"title":"","type":"text","unique":false,"visibility":"shareable"}],"key":["code"],"name":"things","name_by":null,"title":""}],"title":"Probe"}'
)
ROW = f"""SELECT core.open_app_schema('proberows', '')
CREATE TABLE app_proberows.things (code text PRIMARY KEY, _version bigint NOT NULL DEFAULT 1, _changed_at timestamptz NOT NULL DEFAULT now() - interval '1 hour', _changed_by text NOT NULL DEFAULT '')
ALTER TABLE app_proberows.things OWNER TO console
INSERT INTO app.apps (slug, declaration, state, version, folder_hash, by_name, installed_at) VALUES ('proberows', convert_to('{DECLARED}', 'UTF8'), 'stopped', 1, repeat('0', 64), 'probe', now())
INSERT INTO app_proberows.things (code) VALUES ('by hand')"""
NO_ROW = "DELETE FROM app.apps WHERE slug = 'proberows'\nDROP SCHEMA app_proberows CASCADE"
OLD_FILE = "INSERT INTO app.import_pieces (import_id, number, piece) VALUES ('00000000-0000-4000-8000-00000000abcd', 0, 'secret')"
NOBODY = "INSERT INTO app.record_history (app, table_name, row_key, what, by_id, by_name, how, at) VALUES ('x', 'x', '[]', 'changed', '', '', 'page', now())"

HOLES = [
    by_sql("a row put in by hand", check_rows, "every row of things", CONSOLE, ROW, NO_ROW),
    by_sql("a file that stays", check_traces, "no file of an import", CONSOLE, OLD_FILE, "DELETE FROM app.import_pieces WHERE import_id = '00000000-0000-4000-8000-00000000abcd'"),
    by_sql("a change by nobody", check_traces, "by nobody", CONSOLE, NOBODY, "DELETE FROM app.record_history WHERE app = 'x'"),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
