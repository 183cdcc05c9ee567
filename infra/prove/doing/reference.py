"""Compare the protected tables with their declaration: {"service"}. `value` lists [what, expected, got]."""

from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import Table

from infra.observe.doing.declared import ASPECTS, Defined, asleep, beside, both, tables
from infra.postgres.core import Core, declared

PRIVILEGES = """SELECT relname, attname, p FROM pg_attribute JOIN pg_class c ON c.oid = attrelid, unnest(ARRAY['select', 'insert', 'update', 'references']) p
  WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped AND has_column_privilege($1, c.oid, attnum, p)
  UNION ALL SELECT relname, '', p FROM pg_class, unnest(ARRAY['delete', 'truncate', 'trigger']) p
  WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p') AND has_table_privilege($1, oid, p)"""


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _compare(state, each["service"]) for each in attempts]


async def _compare(state: Path, service: str) -> dict[str, Any]:
    core = declared(service)
    try:
        async with beside(state, service, core) as connection:
            return {"got": "done", "value": await _differences(connection, service, core)}
    except asyncpg.PostgresError as error:
        return {"got": "error", "detail": f"{error.sqlstate} {error}", "value": []}


async def _differences(connection: asyncpg.Connection, service: str, core: Core) -> list[list[str]]:
    known, real = await tables(connection, core)
    found = [["tables in core", str(known), str(real)]]
    for says, query in ASPECTS.items():
        expected, got = await both(connection, query)
        names = sorted({name for name, _ in (*expected, *got)}) if says == "functions" else known
        found += [[_says(says, name), *_different(expected, got, name)] for name in names]
    sleeping = await asleep(connection)
    found += [
        [f"core.{name}: triggers fire always", "", ", ".join(trigger for table, trigger in sleeping if table == name)]
        for name in known
    ]
    return found + await _privileges(connection, service, core)


def _says(aspect: str, name: str) -> str:
    return f"core.{name}()" if aspect == "functions" else f"core.{name}: {aspect}"


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
