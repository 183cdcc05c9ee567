"""DB-01, DB-03: who may connect where, and what a view over owner-scoped rows shows. Asked as the real OS users."""

import itertools

import pytest

from infra.postgres.app_roles import ROLES as APP_ROLES
from tests.factories.stack import DATABASES, SERVICES, Stack

pytestmark = pytest.mark.stack
REFUSED = {"42501", "28000", "28P01"}
"""insufficient_privilege, invalid_authorization_specification."""


@pytest.fixture(autouse=True)
def _separated(stack: Stack) -> None:
    if not stack.status()["os_separation"]:
        pytest.skip("OS users are not separated here: there are no other users to connect as")


@pytest.mark.parametrize(
    ("service", "database"), list(itertools.product(SERVICES, (*DATABASES.values(), "postgres", "template1")))
)
def test_db_01_only_the_diagonal_connects(stack: Stack, service: str, database: str) -> None:
    answer = stack.ask_database(service, database, "SELECT 1 AS one")
    if database == DATABASES[service]:
        assert answer == [{"one": 1}]
    else:
        assert answer["sqlstate"] in REFUSED, answer


def test_db_01_a_service_cannot_be_another_role(stack: Stack) -> None:
    for role in ("console", "bridge", "pgadm", "postgres", "site_owner"):
        answer = stack.ask_database("site", "site_db", "SELECT 1 AS one", role=role)
        assert "sqlstate" in answer, role


def test_db_01_a_foreign_catalogue_cannot_be_read(stack: Stack) -> None:
    foreign = stack.ask_database("site", "console_site_db", "SELECT relname FROM pg_class")
    assert foreign["sqlstate"] in REFUSED


@pytest.mark.parametrize("right", ["CONNECT", "TEMPORARY"])
def test_db_01_public_has_no_right_on_any_database(stack: Stack, right: str) -> None:
    """A temporary table is allowed in one's own database only (and limited there)."""
    text = f"""SELECT datname, rolname FROM pg_database, pg_roles WHERE datallowconn AND NOT rolsuper
               AND has_database_privilege(rolname, datname, '{right}') AND rolname NOT LIKE 'pg\\_%' ORDER BY 1, 2"""
    found = {(row["datname"], row["rolname"]) for row in stack.rows("site", text)}
    owners = {(database, f"{service}_owner") for service, database in DATABASES.items()}
    apps = {("console_db", role) for role in APP_ROLES if right == "CONNECT"}
    assert found - owners == {(database, service) for service, database in DATABASES.items()} | apps


def test_db_01_no_role_of_a_service_is_more_than_a_login(stack: Stack) -> None:
    rows = stack.rows(
        "site", "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication FROM pg_roles"
    )
    by_name = {row.pop("rolname"): row for row in rows}
    for service in SERVICES:
        assert not any(by_name[service].values()), service
        assert not any(by_name[f"{service}_owner"].values()), service


def test_db_01_there_is_no_tcp_listener(stack: Stack) -> None:
    assert stack.value("site", "SHOW listen_addresses") == ""


@pytest.mark.parametrize(
    "statement", ["UPDATE core.{} SET {} = {}", "DELETE FROM core.{}", "TRUNCATE core.{}", "DROP TABLE core.{}"]
)
@pytest.mark.parametrize("service", ["bridge", "connectors"])
def test_what_is_kept_cannot_be_rewritten_by_its_own_service(stack: Stack, service: str, statement: str) -> None:
    tables = stack.rows(
        service,
        "SELECT table_name, min(column_name) AS c FROM information_schema.columns WHERE table_schema = 'core' GROUP BY 1",
    )
    assert tables
    for row in tables:
        text = statement.format(row["table_name"], row["c"], row["c"])
        assert stack.ask_database(service, DATABASES[service], text)["sqlstate"] == "42501", text


def test_db_03_owner_scoped_rows_stay_apart_in_views(stack: Stack) -> None:
    """Where row security exists, no view of a surface may pass it by."""
    scoped = [name for name in SERVICES if stack.rows(name, "SELECT relname FROM pg_class WHERE relrowsecurity")]
    if not scoped:
        pytest.skip("DB-03: no service has owner-scoped tables yet")
    text = """SELECT relkind::text AS kind, coalesce(array_to_string(reloptions, ','), '') AS options
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind IN ('v', 'm') AND nspname IN ('app', 'core')"""
    for name in scoped:
        assert all(view["kind"] == "v" and "security_invoker" in view["options"] for view in stack.rows(name, text))
