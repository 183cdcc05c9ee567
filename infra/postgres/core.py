"""The protected tables of one database: made, kept right and checked, owned by `<service>_owner`.

A service declares in its tables.py `core` (MetaData), CORE_GRANTS (what it may do, by table) and CORE_SQL (functions, triggers, indexes; each can run again).
A table is append-only unless its grants say `update` or `delete`, or that one of the declared functions does it (`kept`). Row security divides those in CORE_OWNED by owner (infra/postgres/owned.py).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import asyncpg
from sqlalchemy import CheckConstraint, MetaData, Table, UniqueConstraint
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.schema import AddConstraint, CreateIndex, CreateTable, ForeignKeyConstraint

from infra.postgres.checks import renew_checks
from infra.postgres.cluster import Unsound
from infra.postgres.indexes import renew_indexes
from infra.postgres.owned import check_owned, divide_by_owner
from shared.settings import DATABASES

DIALECT = dialect()  # type: ignore[no-untyped-call]
PRIVILEGES = ("select", "insert", "update", "delete")
REFUSE = """
CREATE OR REPLACE FUNCTION core.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME USING ERRCODE = '42501'; END $$
"""


@dataclass(frozen=True)
class Core:
    """What a service declares. Grants: table -> privilege -> True (all columns) or a list of columns; `kept` -> what only a function with its owner's
    rights does there. `owned`: tables divided by owner."""

    metadata: MetaData = field(default_factory=lambda: MetaData(schema="core"))
    grants: dict[str, dict[str, Any]] = field(default_factory=dict)
    sql: list[str] = field(default_factory=list)
    owned: frozenset[str] = frozenset()

    def columns(self, table: Table, privilege: str) -> frozenset[str]:
        """The columns on which the service holds that privilege; for delete any column stands for the whole table."""
        wanted = self.grants.get(table.name, {}).get(privilege)
        if not wanted:
            return frozenset()
        return frozenset(column.name for column in table.columns) if wanted is True else frozenset(wanted)


def declared(service: str) -> Core:
    """What services.<service>.tables declares; nothing when it has no such file or no core tables."""
    name = f"services.{service}.tables"
    if find_spec(name) is None:
        return Core()
    module = import_module(name)
    empty = Core()
    return Core(
        getattr(module, "core", empty.metadata),
        getattr(module, "CORE_GRANTS", empty.grants),
        getattr(module, "CORE_SQL", empty.sql),
        getattr(module, "CORE_OWNED", empty.owned),
    )


async def provision_core(database: asyncpg.Connection, service: str, core: Core) -> None:
    """Create what is missing, put right what was changed, then check. Runs as superuser, makes everything as the owner."""
    owner = f"{service}_owner"
    async with database.transaction():
        await database.execute(f"SET LOCAL ROLE {owner}")
        for table in core.metadata.sorted_tables:
            await _make_table(database, table)
        await database.execute(REFUSE)
        for statement in core.sql:
            await database.execute(statement)
        await database.execute("RESET ROLE")
        for table in core.metadata.sorted_tables:
            await _secure(database, service, core, table)
            await renew_checks(database, table)
            await renew_indexes(database, table)
            await divide_by_owner(database, table.name, owned=table.name in core.owned)
    await check_core(database, service, core)


async def _make_table(database: asyncpg.Connection, table: Table) -> None:
    await database.execute(_sql(CreateTable(table, if_not_exists=True)))
    known = {
        row[0]
        for row in await database.fetch(
            "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0", _name(table)
        )
    }
    for column in table.columns:
        if column.name not in known:
            await database.execute(f"ALTER TABLE {_name(table)} ADD COLUMN {_sql_column(table, column.name)}")
    for index in table.indexes:
        await database.execute(_sql(CreateIndex(index, if_not_exists=True)))
    constraints = {
        row[0]
        for row in await database.fetch("SELECT conname FROM pg_constraint WHERE conrelid = $1::regclass", _name(table))
    }
    for constraint in _named_constraints(table):
        if constraint.name not in constraints:
            await database.execute(_sql(AddConstraint(constraint)))


async def _secure(database: asyncpg.Connection, service: str, core: Core, table: Table) -> None:
    name = _name(table)
    await database.execute(f"ALTER TABLE {name} OWNER TO {service}_owner")
    for trigger, event, level in append_only(core, table):
        await database.execute(
            f"CREATE OR REPLACE TRIGGER {trigger} BEFORE {event} ON {name} FOR EACH {level} EXECUTE FUNCTION core.refuse_change()"
        )
    for row in await database.fetch(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal", name
    ):
        await database.execute(f'ALTER TABLE {name} ENABLE ALWAYS TRIGGER "{row[0]}"')
    for role in (*DATABASES, "PUBLIC"):
        await database.execute(f"REVOKE ALL ON TABLE {name} FROM {role}")
    for privilege in PRIVILEGES:
        columns = core.columns(table, privilege)
        if not columns:
            continue
        listed = (
            ""
            if privilege == "delete" or core.grants[table.name][privilege] is True
            else f" ({', '.join(sorted(columns))})"
        )
        await database.execute(f"GRANT {privilege.upper()}{listed} ON TABLE {name} TO {service}")


async def check_core(database: asyncpg.Connection, service: str, core: Core) -> None:
    """Unsound when ownership, privileges, triggers or functions are not as declared."""
    for table in core.metadata.sorted_tables:
        found = await database.fetchrow(
            "SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = to_regclass($1)", _name(table)
        )
        if found is None or found["owner"] != f"{service}_owner":
            raise Unsound(f"{_name(table)} does not belong to {service}_owner")
        await _check_privileges(database, service, core, table)
        await _check_triggers(database, core, table)
        await check_owned(database, table.name, owned=table.name in core.owned)
    await _check_functions(database, core)
    if await database.fetchval("SELECT has_schema_privilege($1, 'core', 'CREATE')", service):
        raise Unsound(f"{service} may create in schema core")


async def _check_privileges(database: asyncpg.Connection, service: str, core: Core, table: Table) -> None:
    name = _name(table)
    for privilege in ("delete", "truncate", "trigger"):
        held = await database.fetchval("SELECT has_table_privilege($1, $2, $3)", service, name, privilege)
        if held != bool(core.columns(table, privilege)):
            raise Unsound(f"{service}: {privilege} on {name} is not as declared")
    for privilege in ("select", "insert", "update"):
        wanted = core.columns(table, privilege)
        query = "SELECT attname FROM pg_attribute WHERE attrelid = $2::text::regclass AND attnum > 0 AND NOT attisdropped AND has_column_privilege($1, $2::text, attname, $3)"
        held = {row[0] for row in await database.fetch(query, service, name, privilege)}
        if held != wanted:
            raise Unsound(f"{service}: {privilege} on {name} covers {sorted(held ^ wanted)} otherwise than declared")


async def _check_triggers(database: asyncpg.Connection, core: Core, table: Table) -> None:
    query = "SELECT tgname FROM pg_trigger WHERE tgrelid = $1::regclass AND tgenabled = 'A'"
    enabled = {row[0] for row in await database.fetch(query, _name(table))}
    missing = {trigger for trigger, _, _ in append_only(core, table)} - enabled
    if missing:
        raise Unsound(f"{_name(table)} lacks {', '.join(sorted(missing))}")


async def _check_functions(database: asyncpg.Connection, core: Core) -> None:
    query = """SELECT n.nspname || '.' || p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
      WHERE prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')"""
    known = strong_functions(core)
    undeclared = [row[0] for row in await database.fetch(query) if row[0] not in known]
    if undeclared:
        raise Unsound(f"functions that run with their owner's rights and are not declared: {', '.join(undeclared)}")


def strong_functions(core: Core) -> frozenset[str]:
    """Declared functions that run with their owner's rights: `core.name`."""
    found = (re.match(r"\s*CREATE (?:OR REPLACE )?FUNCTION (core\.\w+)", each) for each in core.sql)
    return frozenset(
        each[1]
        for text, each in zip(core.sql, found, strict=True)
        if each and "SECURITY DEFINER" in text.partition("AS $$")[0]
    )


def append_only(core: Core, table: Table) -> Iterator[tuple[str, str, str]]:
    kept = core.grants.get(table.name, {}).get("kept", ())
    events = [event.upper() for event in ("update", "delete") if event not in kept and not core.columns(table, event)]
    if events:
        yield "no_change", " OR ".join(events), "ROW"
    yield "no_truncate", "TRUNCATE", "STATEMENT"


def _named_constraints(table: Table) -> Iterator[CheckConstraint | UniqueConstraint | ForeignKeyConstraint]:
    for constraint in table.constraints:
        if isinstance(constraint, CheckConstraint | UniqueConstraint | ForeignKeyConstraint) and isinstance(
            constraint.name, str
        ):
            yield constraint


def _name(table: Table) -> str:
    return f"core.{table.name}"


def _sql(element: Any) -> str:
    return str(element.compile(dialect=DIALECT))


def _sql_column(table: Table, name: str) -> str:
    compiler = DIALECT.ddl_compiler(DIALECT, CreateTable(table))
    specification: str = compiler.get_column_specification(table.columns[name])  # type: ignore[no-untyped-call]
    return specification
