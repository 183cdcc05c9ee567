"""Holes that a wrong statement of the superuser, or a wrong line in a file, would open in Postgres (S2, S9)."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from infra.prove.areas.catalogue import check_catalogue
from infra.prove.areas.connects import check_connects
from infra.prove.areas.definitions import check_definitions
from infra.prove.areas.protected import check_protected
from infra.prove.areas.socket_path import check_socket_path
from infra.prove.areas.tricked import check_tricked
from infra.prove.check import Book
from infra.prove.target import Target
from schemas.catalogue import DELIVER_TO_SITE
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, named, rows, run, see

pytestmark = pytest.mark.stack
BRIDGE = "console_site_db"


async def site_connects(target: Target, book: Book) -> None:
    await check_connects(target, book, "site")


async def bridge_attacks(target: Target, book: Book) -> None:
    await check_protected(target, book, "bridge")


async def site_attacks(target: Target, book: Book) -> None:
    await check_protected(target, book, "site")


async def socket_path(target: Target, book: Book) -> None:
    check_socket_path(target, book)


SHUT = ", ".join(f"'{name}'" for name in DELIVER_TO_SITE)
POLICY_CHECK = f"ALTER TABLE core.policies ADD CONSTRAINT policies_shut_to_site CHECK (receiver <> 'site' OR policy <> 'deliver' OR type IN ({SHUT}))"
OPEN_ROW = "INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason) VALUES ('console', 'site', 'page', 99, 'deliver', 'x', 'x')"
NO_ROW = "ALTER TABLE core.policies DISABLE TRIGGER USER\nDELETE FROM core.policies WHERE type = 'page'\nALTER TABLE core.policies ENABLE ALWAYS TRIGGER no_change\nALTER TABLE core.policies ENABLE ALWAYS TRIGGER no_truncate"
TRIGGER = "CREATE TRIGGER check_decision BEFORE INSERT ON core.decisions FOR EACH ROW EXECUTE FUNCTION core.check_decision()\nALTER TABLE core.decisions ENABLE ALWAYS TRIGGER check_decision"
DROP_CHECK = "ALTER TABLE core.policies DROP CONSTRAINT policies_shut_to_site"

HOLES = [
    by_sql("connect granted", check_catalogue, "site has CONNECT on console_db", "postgres", "GRANT CONNECT ON DATABASE console_db TO site", "REVOKE CONNECT ON DATABASE console_db FROM site"),
    by_sql("connect granted, by connecting", site_connects, "connect as site: console_db", "postgres", "GRANT CONNECT ON DATABASE console_db TO site", "REVOKE CONNECT ON DATABASE console_db FROM site"),
    by_sql("connect granted to everybody", check_catalogue, "postgres: PUBLIC CONNECT", "postgres", "GRANT CONNECT ON DATABASE postgres TO PUBLIC", "REVOKE CONNECT ON DATABASE postgres FROM PUBLIC"),
    by_sql("temp and create granted", check_catalogue, "agent has CREATE on agent_db", "postgres", "GRANT CREATE ON DATABASE agent_db TO agent", "REVOKE CREATE ON DATABASE agent_db FROM agent"),
    by_sql("database owned by its service", check_catalogue, "site_db belongs to site", "postgres", "ALTER DATABASE site_db OWNER TO site", "ALTER DATABASE site_db OWNER TO site_owner\nREVOKE ALL ON DATABASE site_db FROM PUBLIC\nGRANT CONNECT, TEMPORARY ON DATABASE site_db TO site"),
    by_sql("superuser role", check_catalogue, "superuser", "postgres", "ALTER ROLE site SUPERUSER", "ALTER ROLE site NOSUPERUSER"),
    by_sql("superuser role, by using it", site_attacks, "read passwords", "postgres", "ALTER ROLE site SUPERUSER", "ALTER ROLE site NOSUPERUSER"),
    by_sql("password set", check_catalogue, "no role has a password", "postgres", "ALTER ROLE agent PASSWORD 'secret'", "ALTER ROLE agent PASSWORD NULL"),
    by_sql("a stranger may log in", check_catalogue, "stranger", "postgres", "CREATE ROLE stranger LOGIN", "DROP ROLE stranger"),
    by_sql("owner may log in", check_catalogue, "bridge_owner", "postgres", "ALTER ROLE bridge_owner LOGIN", "ALTER ROLE bridge_owner NOLOGIN"),
    by_sql("member of the owner", check_catalogue, "bridge in bridge_owner", "postgres", "GRANT bridge_owner TO bridge", "REVOKE bridge_owner FROM bridge"),
    by_sql("member of the owner, by using it", bridge_attacks, "set role to the owner", "postgres", "GRANT bridge_owner TO bridge", "REVOKE bridge_owner FROM bridge"),
    by_sql("definer function", check_catalogue, "no function runs with its owner's rights", BRIDGE, "CREATE FUNCTION core.peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM core.decisions'", "DROP FUNCTION core.peek()"),
    by_sql("function of the superuser", check_catalogue, "app.peek of pgadm", BRIDGE, "CREATE FUNCTION app.peek() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION app.peek()"),
    by_sql("dropped CHECK of the policies", check_definitions, "policies_shut_to_site", BRIDGE, DROP_CHECK, POLICY_CHECK),
    by_sql("dropped CHECK of the policies, by using it", check_tricked, "policy deliver to the site: item.published", BRIDGE, DROP_CHECK, POLICY_CHECK),
    by_sql("a policy that delivers pages to the site", check_tricked, "console to site: page", BRIDGE, f"{DROP_CHECK}\n{OPEN_ROW}", f"{NO_ROW}\n{POLICY_CHECK}"),
    by_sql("weakened CHECK", check_definitions, "decisions_by_people", BRIDGE, "ALTER TABLE core.decisions DROP CONSTRAINT decisions_by_people\nALTER TABLE core.decisions ADD CONSTRAINT decisions_by_people CHECK (via <> '')", "ALTER TABLE core.decisions DROP CONSTRAINT decisions_by_people\nALTER TABLE core.decisions ADD CONSTRAINT decisions_by_people CHECK (via IN ('console', 'api', 'operator'))"),
    by_sql("dropped trigger of four eyes", check_definitions, "check_decision", BRIDGE, "DROP TRIGGER check_decision ON core.decisions", TRIGGER),
    by_sql("dropped trigger of four eyes, by using it", check_tricked, "four eyes: the author approves", BRIDGE, "DROP TRIGGER check_decision ON core.decisions", TRIGGER),
    by_sql("disabled trigger", check_definitions, "core.gate_log: triggers fire always", BRIDGE, "ALTER TABLE core.gate_log DISABLE TRIGGER no_change", "ALTER TABLE core.gate_log ENABLE ALWAYS TRIGGER no_change"),
    by_sql("update granted on decisions", check_definitions, "core.decisions: what bridge may do", BRIDGE, "GRANT UPDATE ON core.decisions TO bridge", "REVOKE UPDATE ON core.decisions FROM bridge"),
    by_sql("delete granted on crossings, by using it", bridge_attacks, "core.crossings: delete", BRIDGE, "GRANT DELETE ON core.crossings TO bridge", "REVOKE DELETE ON core.crossings FROM bridge"),
    by_sql("a schema given away", check_catalogue, "schemas belong to whom they must", BRIDGE, "ALTER SCHEMA core OWNER TO bridge", "ALTER SCHEMA core OWNER TO bridge_owner\nGRANT USAGE ON SCHEMA core TO bridge"),
    by_sql("a table read by others", check_catalogue, "no table is open to anybody else", BRIDGE, "GRANT SELECT ON core.decisions TO console", "REVOKE SELECT ON core.decisions FROM console"),
    by_sql("a rule on a protected table", check_catalogue, "core.gate_log quiet", BRIDGE, "CREATE RULE quiet AS ON DELETE TO core.gate_log DO INSTEAD NOTHING", "DROP RULE quiet ON core.gate_log"),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_line_that_trusts_everybody_is_found(proving: Proving) -> None:
    hba = next(proving.stack.layout.pg.glob("data-*")) / "pg_hba.conf"
    text = hba.read_text()
    hole = Hole(
        "trust",
        check_catalogue,
        "trust",
        lambda stack: reload(stack, hba, f"local all all trust\n{text}"),
        lambda stack: reload(stack, hba, text),
    )
    see(hole, proving.stack)


def reload(stack: Stack, path: Path, text: str) -> None:
    path.write_text(text)
    run(stack, "postgres", "SELECT pg_reload_conf()")
    os.kill(stack.pids()["postgres"], signal.SIGHUP)


@pytest.mark.parametrize("mode", [0o777, 0o3777, 0o2755])
def test_a_socket_folder_for_everybody_is_found(proving: Proving, mode: int) -> None:
    folder = proving.stack.layout.pg_socket_dir
    hole = Hole("socket", socket_path, "its folder", lambda _: folder.chmod(mode), lambda _: folder.chmod(0o2750))
    see(hole, proving.stack)


def test_a_folder_above_the_socket_for_everybody_is_found(proving: Proving) -> None:
    folder = proving.stack.layout.run
    hole = Hole(
        "above", socket_path, "the folder above: run", lambda _: folder.chmod(0o777), lambda _: folder.chmod(0o755)
    )
    see(hole, proving.stack)


def test_a_server_of_another_user_is_found(proving: Proving) -> None:
    """As in a container whose passwd names another uid: whoever serves the socket is not who must."""
    sound = Target.load(proving.stack.state)
    who = replace(sound.who, uids={**sound.who.uids, "pgadm": sound.who.uids["site"]})
    found = failures(rows(socket_path, replace(sound, who=who)))
    assert any("served by the server's own user" in check.attempt for check in found)
