"""Ways opened for apps' code, and apps that nobody approved: prove finds them (S4)."""

from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import pytest

from infra.prove.areas.apps import check_approvals, check_roles, check_schemas
from shared.errors import SchleuseError
from shared.operator import call
from tests.factories.apps import app_of, sent
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, by_sql, see

PAGES = "from schleuse_app import page\n\n@page('')\nasync def front(request, db):\n    return 'x'\n"
MODELS = "from sqlalchemy import *\nmetadata = MetaData()\nthings = Table('things', metadata, Column('name', Text, primary_key=True))\n"


@pytest.fixture(scope="module")
def slug(proving: Proving) -> Iterator[str]:
    """An app in service, with its role."""
    named, state = f"holes-{uuid4().hex[:6]}", proving.stack.state
    found = call(state, "console", "apps.install", {"files": sent(app_of(named, models=MODELS, pages=PAGES))})
    call(state, "console", "apps.decide", {"app": found["folder_hash"], "verdict": "install"})
    yield named
    with suppress(SchleuseError):
        call(state, "console", "apps.stop", {"app": named, "reason": "the tests are over"})


HOLES: dict[str, tuple[Examine, str, str, str]] = {
    "a role that reads the console's tables": (check_schemas, "reaches another schema", "GRANT USAGE ON SCHEMA app TO {role}", "REVOKE USAGE ON SCHEMA app FROM {role}"),
    "another app's role that looks in": (check_schemas, "the app's role looks in", "GRANT USAGE ON SCHEMA {schema} TO app_16", "REVOKE USAGE ON SCHEMA {schema} FROM app_16"),
    "a role that writes its table": (check_schemas, "only the app's own role reads", "GRANT INSERT ON {schema}.things TO {role}", "REVOKE INSERT ON {schema}.things FROM {role}"),
    "a table that everybody reads": (check_schemas, "only the app's own role reads", "GRANT SELECT ON {schema}.things TO PUBLIC", "REVOKE SELECT ON {schema}.things FROM PUBLIC"),
    "a role that makes tables": (check_schemas, "no role of an app makes anything", "GRANT CREATE ON SCHEMA {schema} TO {role}", "REVOKE CREATE ON SCHEMA {schema} FROM {role}"),
    "a function in an app's schema": (check_schemas, "no function", "CREATE FUNCTION {schema}.peek() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION {schema}.peek()"),
    "a schema that is no app's": (check_schemas, "to an app", "CREATE SCHEMA app_nobodys", "DROP SCHEMA app_nobodys"),
    "a role without its limits": (check_schemas, "carry their limits", "ALTER ROLE {role} RESET statement_timeout", "ALTER ROLE {role} SET statement_timeout = '10s'"),
    "a folder changed after its approval": (
        check_approvals, "exactly what a person approved",
        "UPDATE app.app_files SET content = content || '\\x20'::bytea WHERE path = 'pages.py' AND folder_hash = (SELECT folder_hash FROM app.apps WHERE slug = '{slug}') RETURNING 1",
        "UPDATE app.app_files SET content = substr(content, 1, length(content) - 1) WHERE path = 'pages.py' AND folder_hash = (SELECT folder_hash FROM app.apps WHERE slug = '{slug}') RETURNING 1",
    ),
    "a folder that nobody approved": (
        check_approvals, "exactly what a person approved",
        "UPDATE app.apps SET folder_hash = reverse(folder_hash) WHERE slug = '{slug}' RETURNING 1",
        "UPDATE app.apps SET folder_hash = reverse(folder_hash) WHERE slug = '{slug}' RETURNING 1",
    ),
    "a role that takes on others' rights": (check_schemas, "makes anything", "ALTER ROLE {role} INHERIT", "ALTER ROLE {role} NOINHERIT"),
}  # fmt: skip


OFTEN = (
    "a role that reads the console's tables",
    "a table that everybody reads",
    "a folder changed after its approval",
)
"""The others, of the same kind, are tried in the long run."""


def _named(name: str) -> object:
    return pytest.param(name, id=name.replace(" ", "-"), marks=() if name in OFTEN else pytest.mark.long)


@pytest.mark.stack
@pytest.mark.parametrize("name", [_named(each) for each in HOLES])
def test_a_planted_hole_around_apps_is_found(proving: Proving, slug: str, name: str) -> None:
    examine, found_by, plant, heal = HOLES[name]
    role = proving.stack.value("console", f"SELECT role FROM app.apps WHERE slug = '{slug}'")
    words = {"role": role, "schema": f"app_{slug.replace('-', '_')}", "slug": slug}
    see(by_sql(name, examine, found_by, "console_db", plant.format(**words), heal.format(**words)), proving.stack)


@pytest.mark.long
def test_a_role_that_anybody_may_be_is_found(proving: Proving) -> None:
    """A line too many in pg_ident.conf, read by the server at once."""
    stack = proving.stack
    [where] = stack.layout.pg.glob("data-*/pg_ident.conf")
    before = where.read_text()

    def put(text: str) -> None:
        where.write_text(text)
        assert stack.rows("console", "SELECT pg_reload_conf()")

    hole = Hole("an ident line too many", check_roles, "connect as app_01", lambda _: put(before + "apps site app_01\n"), lambda _: put(before))  # fmt: skip
    see(hole, stack)
