"""Postgres, asked as the superuser by its own OS user: roles, memberships, owners, grants, definitions of the protected tables, login rules, settings."""

import re
from collections.abc import Sequence
from typing import Any

from infra.observe.crew import Attempt, Outcome
from infra.observe.grants import catalogue_queries as queries
from infra.observe.grants import declared_rights
from infra.observe.grants.line import Facts, Key, Line, State, compare, unknown
from infra.observe.installation import Installation
from infra.observe.login import expected_login_rules, expected_settings
from infra.postgres.settings import SUPERUSER
from shared.errors import SchleuseError
from shared.settings import DATABASES

VERSION = "SELECT current_setting('server_version_num')::int / 10000"
OF_CLUSTER = ("ROLES", "MEMBERS", "SETTINGS", "DATABASES", "DATABASE_GRANTS", "PARAMETERS", "TABLESPACES", "LOGIN_RULES", "LOGIN_MAPS")  # fmt: skip
OF_DATABASE = ("SCHEMAS", "SCHEMA_GRANTS", "RELATIONS", "RELATION_GRANTS", "FUNCTIONS", "FUNCTION_GRANTS", "POLICIES", "DEFAULTS", "ADDITIONS", "SYSTEM")  # fmt: skip
Rows = list[list[Any]]


async def read_postgres(here: Installation) -> list[Line]:
    try:
        cluster = await _ask(here, "postgres", OF_CLUSTER)
        (major,) = await here.run("pgadm", [_rows("postgres", VERSION)])
        lines = compare("postgres", *_cluster(here, cluster, major["value"][0][0]), advise)
        settings = await here.run("pgadm", [_rows("postgres", _settings_query(here))])
    except SchleuseError as error:
        return [unknown("postgres", "postgres", "roles, databases and login rules", error.message)]
    lines += compare("postgres", expected_settings(here.layout), {("postgres", f"server setting {name}"): value for name, value in settings[0]["value"]}, advise)  # fmt: skip
    for service in DATABASES:
        lines += await _database(here, service)
    return lines


_OF_APPS = re.compile(r"(schema |table |view |sequence |row security of )?app_[a-z][a-z0-9_]*[.:]")
"""Schemas of apps: which there are, people decide while it runs; `schleuse prove` compares them with what they approved."""
HEALED = ("setting of ", "database ", "schema ")
BY_HAND = "no start takes this back: REVOKE or DROP it as the superuser, after looking at where it came from"


def advise(_: str, what: str, state: State) -> str:
    if what.startswith("role ") and state == "extra" and " is a member of " not in what:
        return f"no start takes this back: DROP ROLE {what.removeprefix('role ')}, after looking at what it owns"
    if what.startswith(("server setting", "login rule", "login map")):
        return "a start writes the server's settings anew: `schleuse down`, `schleuse up`"
    if what.startswith("table app.") and state == "missing":
        return "a service makes its tables when it starts: start it anew"
    if what.startswith(("table app.", "app.")):
        return "made by hand, or left by another release: look at it, then drop or revoke it as the superuser"
    if what.startswith(("system ", "default: ", "row security of ", "function ", "extension ")) or (state == "extra" and not what.startswith(("role ", "core.", *HEALED))):  # fmt: skip
        return BY_HAND
    return "provisioning takes it back: `schleuse down`, `schleuse up`"


async def _ask(here: Installation, database: str, names: Sequence[str]) -> dict[str, Rows]:
    outcomes = await here.run("pgadm", [_rows(database, getattr(queries, name)) for name in names])
    return {name: outcome["value"] for name, outcome in zip(names, outcomes, strict=True)}


def _rows(database: str, query: str) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": database, "query": query}


def _settings_query(here: Installation) -> str:
    names = ", ".join(f"'{what.removeprefix('server setting ')}'" for _, what in expected_settings(here.layout))
    return f"SELECT name, setting FROM pg_settings WHERE name IN ({names})"  # noqa: S608 - names of ours


def _cluster(here: Installation, asked: dict[str, Rows], major: int) -> tuple[Facts, Facts]:
    expected = declared_rights.of_cluster(major) | expected_login_rules(here.config)
    found: dict[Key, str] = {}
    found |= {(_whose(name), f"role {name}"): value for name, value in asked["ROLES"]}
    found |= {(_whose(member), f"role {member} is a member of {role}"): "yes" for member, role in asked["MEMBERS"]}
    for role, setting in asked["SETTINGS"]:
        name, _, value = setting.partition("=")
        found[_whose(role), f"setting of {role}: {name}"] = value
    found |= {(_holder(name), f"database {name}: owner"): owner for name, owner in asked["DATABASES"]}
    found |= _granted("database ", asked["DATABASE_GRANTS"], _holder)
    found |= _granted("parameter ", asked["PARAMETERS"], lambda _: "postgres")
    found |= {("postgres", f"tablespace {name}"): value.strip() for name, value in asked["TABLESPACES"]}
    found |= {("postgres", f"login rule {number}"): rule for number, (_, rule) in enumerate(asked["LOGIN_RULES"], 1)}
    found |= {("postgres", f"login map {number}"): " ".join(row) for number, row in enumerate(asked["LOGIN_MAPS"], 1)}
    return expected, found


async def _database(here: Installation, service: str) -> list[Line]:
    name = DATABASES[service]
    try:
        asked = await _ask(here, name, OF_DATABASE)
        (outcome,) = await here.run("pgadm", [{"kind": "declared", "service": service}])
    except SchleuseError as error:
        return [unknown("postgres", service, name, error.message)]
    lines = compare("postgres", {**declared_rights.of_database(service), **_functions(service, outcome)}, _in_database(service, asked), advise)  # fmt: skip
    if outcome["got"] != "done":
        return [*lines, unknown("postgres", service, "definitions of the protected tables", outcome["detail"])]
    return lines + compare("postgres", *_definitions(service, outcome["value"]), advise)


def _in_database(service: str, asked: dict[str, Rows]) -> Facts:
    whose = lambda _: service  # noqa: E731 - one surface for everything in its database
    found: dict[Key, str] = {}
    found |= {(service, f"schema {name}: owner"): owner for name, owner in asked["SCHEMAS"]}
    found |= _granted("schema ", asked["SCHEMA_GRANTS"], whose)
    found |= {(service, f"{kind} {name}: owner"): owner for name, kind, owner in asked["RELATIONS"]}
    found |= _granted("", asked["RELATION_GRANTS"], whose)
    found |= {(service, f"function {name}: owner"): owner for name, owner in asked["FUNCTIONS"]}
    found |= _granted("function ", asked["FUNCTION_GRANTS"], whose)
    found |= {(service, f"row security of {name}"): value for name, value in asked["POLICIES"]}
    found |= _granted("default: ", asked["DEFAULTS"], whose)
    found |= {(service, name): value for name, value in asked["ADDITIONS"]}
    found |= {(service, f"system {name}"): value for name, value in asked["SYSTEM"]}
    return {key: value for key, value in found.items() if service != "console" or not _OF_APPS.match(key[1])}


def _granted(prefix: str, rows: Rows, whose: Any) -> Facts:
    """One fact for each thing and grantee."""
    held: dict[tuple[str, str], declared_rights.Held] = {}
    for thing, grantee, privilege, column in rows:
        of_thing = held.setdefault((thing, grantee), {})
        columns = of_thing.get(privilege, set())
        of_thing[privilege] = None if not column or columns is None else {*columns, column}
    return {(whose(thing), f"{prefix}{thing}: {grantee} may"): declared_rights.in_words(each) for (thing, grantee), each in held.items()}  # fmt: skip


def _functions(service: str, outcome: Outcome) -> Facts:
    """Declared functions are in core, of the owner role, and run with their caller's rights unless they say otherwise."""
    declared = outcome["value"]["aspects"]["functions"][0] if outcome["got"] == "done" else []
    found: dict[Key, str] = {}
    for name, takes, definition in declared:
        strong = ", with its owner's rights" if "SECURITY DEFINER" in definition.partition("AS $")[0] else ""
        found[service, f"function core.{name}({takes}): owner"] = f"{service}_owner{strong}"
        found[service, f"function core.{name}({takes}): PUBLIC may"] = "EXECUTE"
    return found


def _definitions(service: str, value: dict[str, Any]) -> tuple[Facts, Facts]:
    asleep = {(table, trigger) for table, trigger in value["asleep"]}
    sides: list[dict[Key, str]] = [{}, {}]
    for aspect, both in value["aspects"].items():
        for side, rows in zip(sides, both, strict=True):
            for table, name, definition in rows:
                sleeps = side is sides[1] and aspect == "triggers" and (table, name) in asleep
                side[service, _named(aspect, table, name)] = definition + (" (does not always fire)" if sleeps else "")
    return sides[0], sides[1]


def _named(aspect: str, table: str, name: str) -> str:
    one = {"columns": "column", "constraints": "constraint", "indexes": "index", "triggers": "trigger"}.get(aspect)
    if aspect == "functions":
        return f"core.{table}({name}): definition"
    return (
        f"core.{table}: {one} {name}" if one else f"core.{table}: {aspect}{'' if name == table else f', policy {name}'}"
    )


def _whose(role: str) -> str:
    service = role.partition(" ")[0].removesuffix("_owner")
    return service if service in DATABASES else "postgres"


def _holder(database: str) -> str:
    return next((service for service, name in DATABASES.items() if name == database), "postgres")
