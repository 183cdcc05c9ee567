"""Compare the protected tables with their declaration: {"service"}. `value` lists [what, expected, got].

The declaration is made as temporary tables, triggers and functions in a transaction that is rolled back, so that the server itself spells both sides.
"""

import re
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import MetaData, Table
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from infra.postgres.core import REFUSE, Core, append_only, declared
from infra.postgres.settings import SUPERUSER
from infra.prove.doing.session import session
from shared.settings import DATABASES

DIALECT = dialect()  # type: ignore[no-untyped-call]
_TEMP = "pg_my_temp_schema()"
_CORE = "'core'::regnamespace"

# each gives (table or function, name, definition)
ASPECTS: dict[str, str] = {
    "columns": """SELECT relname, attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attidentity, attgenerated)
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE relnamespace = {schema} AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped""",
    "constraints": """SELECT relname, conname, pg_get_constraintdef(con.oid) || CASE WHEN convalidated THEN '' ELSE ' NOT VALID' END
      FROM pg_constraint con JOIN pg_class c ON c.oid = conrelid WHERE relnamespace = {schema}""",
    "indexes": """SELECT c.relname, i.relname, pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END
      FROM pg_index JOIN pg_class c ON c.oid = indrelid JOIN pg_class i ON i.oid = indexrelid WHERE c.relnamespace = {schema} AND c.relkind = 'r'""",
    "triggers": """SELECT relname, tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
      WHERE relnamespace = {schema} AND NOT tgisinternal""",
}
FUNCTIONS = "SELECT proname, proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = {schema}"
TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
)
ASLEEP = """SELECT relname, tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
  WHERE relnamespace = 'core'::regnamespace AND NOT tgisinternal AND tgenabled <> 'A'"""
PRIVILEGES = """SELECT relname, attname, p FROM pg_attribute JOIN pg_class c ON c.oid = attrelid, unnest(ARRAY['select', 'insert', 'update', 'references']) p
  WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped AND has_column_privilege($1, c.oid, attnum, p)
  UNION ALL SELECT relname, '', p FROM pg_class, unnest(ARRAY['delete', 'truncate', 'trigger']) p
  WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p') AND has_table_privilege($1, oid, p)"""
Defined = dict[tuple[str, str], str]


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _compare(state, each["service"]) for each in attempts]


async def _compare(state: Path, service: str) -> dict[str, Any]:
    core = declared(service)
    try:
        async with session(state, SUPERUSER, DATABASES[service]) as connection:
            await connection.execute("BEGIN")  # and no commit: nothing of it stays
            await connection.execute("SET LOCAL lock_timeout = '2s'")
            await connection.execute("SET LOCAL client_min_messages = error")
            await _make(connection, core)
            return {"got": "done", "value": await _differences(connection, service, core)}
    except asyncpg.PostgresError as error:
        return {"got": "error", "detail": f"{error.sqlstate} {error}", "value": []}


async def _make(connection: asyncpg.Connection, core: Core) -> None:
    copies = MetaData()
    for table in core.metadata.sorted_tables:
        table.to_metadata(copies, schema="pg_temp", referred_schema_fn=lambda *_: "pg_temp")
    for copy in copies.sorted_tables:
        await connection.execute(str(CreateTable(copy).compile(dialect=DIALECT)))
        for index in copy.indexes:
            await connection.execute(str(CreateIndex(index).compile(dialect=DIALECT)))
    for statement in (REFUSE, *core.sql):
        await connection.execute(_moved(statement))
    for table in core.metadata.sorted_tables:
        for trigger, event, level in append_only(core, table):
            await connection.execute(
                f"CREATE TRIGGER {trigger} BEFORE {event} ON pg_temp.{table.name} FOR EACH {level} EXECUTE FUNCTION core.refuse_change()"
            )


def _moved(statement: str) -> str:
    """The same statement for the temporary copies; bodies, and the functions that triggers call, stay as they are."""
    statement = re.sub(r"^(\s*CREATE (?:OR REPLACE )?FUNCTION) core\.", r"\1 pg_temp.", statement, flags=re.I)
    head, separator, body = statement.partition("AS $$")
    return re.sub(r"\b(ON|TABLE) core\.", r"\1 pg_temp.", head, flags=re.I) + separator + body


async def _differences(connection: asyncpg.Connection, service: str, core: Core) -> list[list[str]]:
    tables = [table.name for table in core.metadata.sorted_tables]
    real = sorted(row[0] for row in await connection.fetch(TABLES))
    found = [["tables in core", str(sorted(tables)), str(real)]]
    for says, query in ASPECTS.items():
        expected, got = await _both(connection, query)
        found += [[f"core.{name}: {says}", *_different(expected, got, name)] for name in tables]
    expected, got = await _both(connection, FUNCTIONS)
    found += [
        [f"core.{name}()", *_different(expected, got, name)] for name in sorted({name for name, _ in (*expected, *got)})
    ]
    asleep = {(row[0], row[1]) for row in await connection.fetch(ASLEEP)}
    found += [
        [f"core.{name}: triggers fire always", "", ", ".join(trigger for table, trigger in asleep if table == name)]
        for name in tables
    ]
    return found + await _privileges(connection, service, core)


async def _both(connection: asyncpg.Connection, query: str) -> tuple[Defined, Defined]:
    return await _defined(connection, query, _TEMP), await _defined(connection, query, _CORE)


async def _defined(connection: asyncpg.Connection, query: str, schema: str) -> Defined:
    rows = await connection.fetch(query.format(schema=schema))
    return {(row[0], row[1]): re.sub(r"\b(pg_temp(_\d+)?|core)\.", "", row[2], count=0) for row in rows}


def _different(expected: Defined, got: Defined, name: str) -> tuple[str, str]:
    """Both sides cut down to what differs."""
    keys = sorted({key for key in (*expected, *got) if key[0] == name})
    apart = [key for key in keys if expected.get(key) != got.get(key)]
    return _told(expected, apart), _told(got, apart)


def _told(side: Defined, keys: list[tuple[str, str]]) -> str:
    return "; ".join(f"{key[1]}: {side.get(key, 'missing')}" for key in keys)


async def _privileges(connection: asyncpg.Connection, service: str, core: Core) -> list[list[str]]:
    held: dict[str, set[str]] = {}
    for table, column, privilege in await connection.fetch(PRIVILEGES, service):
        held.setdefault(table, set()).add(f"{privilege} {column}".strip())
    return [
        [f"core.{table.name}: what {service} may do", *_apart(_granted(core, table), held.get(table.name, set()))]
        for table in core.metadata.sorted_tables
    ]


def _granted(core: Core, table: Table) -> set[str]:
    found = {
        f"{privilege} {column}"
        for privilege in ("select", "insert", "update")
        for column in core.columns(table, privilege)
    }
    return found | ({"delete"} if core.columns(table, "delete") else set())


def _apart(expected: set[str], got: set[str]) -> tuple[str, str]:
    return ", ".join(sorted(expected - got)), ", ".join(sorted(got - expected))
