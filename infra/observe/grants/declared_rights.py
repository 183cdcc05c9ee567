"""What the code says that each role may do in Postgres: roles, databases, schemas, tables, functions, privileges."""

from importlib import import_module

from sqlalchemy import MetaData

from infra.observe.grants.line import Key
from infra.postgres import app_roles
from infra.postgres.core import PRIVILEGES, Core, declared
from infra.postgres.settings import CONNECTION_LIMIT, SUPERUSER, role_settings
from shared.settings import DATABASES

Held = dict[str, set[str] | None]
"""Privilege -> the columns on which it is held, None for the whole thing."""
BUILT_IN = {
    "extension plpgsql": SUPERUSER,
    "language internal": "trusted: false",
    "language c": "trusted: false",
    "language sql": "trusted: true",
    "language plpgsql": "trusted: true",
}
"""What a fresh database has beside its tables."""


def of_cluster(major: int) -> dict[Key, str]:
    found: dict[Key, str] = {
        ("postgres", f"role {SUPERUSER}"): "login superuser createrole createdb replication bypassrls",
        ("postgres", "tablespace pg_default"): SUPERUSER,
        ("postgres", "tablespace pg_global"): SUPERUSER,
    }
    for name in ("postgres", "template1"):
        found["postgres", f"database {name}: owner"] = SUPERUSER
    for service, database in DATABASES.items():
        found[service, f"role {service}"] = f"login {CONNECTION_LIMIT} connections"
        found[service, f"role {service}_owner"] = "nologin"
        found[service, f"database {database}: owner"] = f"{service}_owner"
        found[service, f"database {database}: {service} may"] = "CONNECT, TEMPORARY"
        for name, value in role_settings(major).items():
            found[service, f"setting of {service}: {name}"] = value
    return found | of_apps()


def of_apps() -> dict[Key, str]:
    """The roles that apps' code reads its own tables by."""
    found: dict[Key, str] = {}
    for role in app_roles.ROLES:
        found["postgres", f"role {role}"] = f"login {app_roles.CONNECTIONS} connections"
        found["console", f"database {app_roles.DATABASE}: {role} may"] = "CONNECT"
        found |= {("postgres", f"setting of {role}: {name}"): value for name, value in app_roles.SETTINGS.items()}
    return found


def of_database(service: str) -> dict[Key, str]:
    owner, core = f"{service}_owner", declared(service)
    found = {
        "schema app: owner": service,
        "schema core: owner": owner,
        f"schema core: {service} may": "USAGE",
        "schema public: owner": "pg_database_owner",
        **BUILT_IN,
    }
    for table in app_tables(service).sorted_tables:
        found[f"table app.{table.name}: owner"] = service
    for table in core.metadata.sorted_tables:
        found[f"table core.{table.name}: owner"] = owner
        if held := _held(core, table.name):
            found[f"core.{table.name}: {service} may"] = in_words(held)
    return {(service, what): value for what, value in found.items()}


def app_tables(service: str) -> MetaData:
    module = import_module(f"services.{service}.tables")
    found: MetaData = getattr(module, "app", MetaData())
    return found


def _held(core: Core, name: str) -> Held:
    granted = core.grants.get(name, {})
    return {
        privilege.upper(): None if granted[privilege] is True or privilege == "delete" else set(granted[privilege])
        for privilege in PRIVILEGES
        if granted.get(privilege)
    }


def in_words(held: Held) -> str:
    """`INSERT (a, b), SELECT`."""
    return ", ".join(
        name if columns is None else f"{name} ({', '.join(sorted(columns))})" for name, columns in sorted(held.items())
    )
