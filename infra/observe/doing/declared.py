"""The protected tables of a database beside their declaration: {"service"}. `value`: {"tables": [declared, found], "aspects": {aspect: [declared, found]}, "asleep": […]}.

Each side of an aspect lists [table or function, name or what it takes, definition]; `asleep` lists [table, trigger] of those that do not always fire. The declaration is made as
temporary tables, triggers and functions in a transaction that is rolled back, so that the server itself spells both sides.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import MetaData
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from infra.observe.doing.session import session
from infra.postgres.core import REFUSE, Core, append_only, declared
from infra.postgres.owned import divided
from infra.postgres.settings import SUPERUSER
from shared.settings import DATABASES

DIALECT = dialect()  # type: ignore[no-untyped-call]
_TEMP = "pg_my_temp_schema()"
_CORE = "'core'::regnamespace"

# each gives (table or function, name, definition)
ASPECTS: dict[str, str] = {
    "columns": """SELECT relname, attname, concat_ws(' ', format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END,
        'DEFAULT ' || pg_get_expr(adbin, adrelid), CASE attidentity WHEN 'a' THEN 'IDENTITY ALWAYS' WHEN 'd' THEN 'IDENTITY' END, CASE WHEN attgenerated <> '' THEN 'GENERATED' END)
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE relnamespace = {schema} AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped""",
    "constraints": """SELECT relname, conname, pg_get_constraintdef(con.oid) || CASE WHEN convalidated THEN '' ELSE ' NOT VALID' END
      FROM pg_constraint con JOIN pg_class c ON c.oid = conrelid WHERE relnamespace = {schema}""",
    "indexes": """SELECT c.relname, i.relname, pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END
      FROM pg_index JOIN pg_class c ON c.oid = indrelid JOIN pg_class i ON i.oid = indexrelid WHERE c.relnamespace = {schema} AND c.relkind = 'r'""",
    "row security": """SELECT relname, relname, concat_ws(' ', CASE WHEN relrowsecurity THEN 'on' ELSE 'off' END, CASE WHEN relforcerowsecurity THEN 'forced' END)
      FROM pg_class WHERE relnamespace = {schema} AND relkind = 'r'
      UNION ALL SELECT relname, polname, concat_ws(' ', polcmd::text, polpermissive::text, polroles::regrole[]::text, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
      FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = {schema}""",
    "triggers": """SELECT relname, tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
      WHERE relnamespace = {schema} AND NOT tgisinternal""",
    "functions": "SELECT proname, pg_get_function_identity_arguments(oid), pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = {schema}",
}
TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
)
ASLEEP = """SELECT relname, tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
  WHERE relnamespace = 'core'::regnamespace AND NOT tgisinternal AND tgenabled <> 'A'"""
Defined = dict[tuple[str, str], str]
Sides = tuple[Defined, Defined]


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _read(state, each["service"]) for each in attempts]


async def _read(state: Path, service: str) -> dict[str, Any]:
    core = declared(service)
    try:
        async with beside(state, service, core) as connection:
            aspects = {
                says: [_listed(side) for side in await both(connection, query)] for says, query in ASPECTS.items()
            }
            found = {"tables": await tables(connection, core), "aspects": aspects, "asleep": await asleep(connection)}
    except asyncpg.PostgresError as error:
        return {"got": "error", "detail": f"{error.sqlstate} {error}", "value": {}}
    return {"got": "done", "value": found}


@asynccontextmanager
async def beside(state: Path, service: str, core: Core) -> AsyncIterator[asyncpg.Connection]:
    """A connection in which the declaration lies beside the real tables; nothing of it stays."""
    async with session(state, SUPERUSER, DATABASES[service]) as connection:
        await connection.execute("BEGIN")  # and no commit
        await connection.execute("SET LOCAL lock_timeout = '2s'")
        await connection.execute("SET LOCAL client_min_messages = error")
        await _make(connection, core)
        yield connection


async def tables(connection: asyncpg.Connection, core: Core) -> list[list[str]]:
    """Names: declared, found."""
    found = sorted(row[0] for row in await connection.fetch(TABLES))
    return [sorted(table.name for table in core.metadata.sorted_tables), found]


async def asleep(connection: asyncpg.Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in await connection.fetch(ASLEEP)]


async def both(connection: asyncpg.Connection, query: str) -> Sides:
    """Declared, found."""
    return await _defined(connection, query, _TEMP), await _defined(connection, query, _CORE)


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
        if table.name in core.owned:
            for statement in divided(f"pg_temp.{table.name}"):
                await connection.execute(statement)


def _moved(statement: str) -> str:
    """The same statement for the temporary copies; bodies, and the functions that triggers call, stay as they are."""
    statement = re.sub(r"^(\s*CREATE (?:OR REPLACE )?FUNCTION) core\.", r"\1 pg_temp.", statement, flags=re.I)
    head, separator, body = statement.partition("AS $$")
    return re.sub(r"\b(ON|TABLE) core\.", r"\1 pg_temp.", head, flags=re.I) + separator + body


async def _defined(connection: asyncpg.Connection, query: str, schema: str) -> Defined:
    rows = await connection.fetch(query.format(schema=schema))
    return {(row[0], row[1]): re.sub(r"\b(pg_temp(_\d+)?|core)\.", "", row[2], count=0) for row in rows}


def _listed(side: Defined) -> list[list[str]]:
    return [[*key, text] for key, text in sorted(side.items())]
