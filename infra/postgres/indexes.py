"""Indexes of protected tables say what the code declares: one with an older wording is made anew under its name.

Compared as checks are: the server spells both sides, the declared one on an empty temporary twin of the table.
"""

import asyncpg
from sqlalchemy import Index, Table
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.schema import CreateIndex

DIALECT = dialect()  # type: ignore[no-untyped-call]
TWIN = "indexed_twin"
DEFINITION = "SELECT pg_get_indexdef(to_regclass($1))"


async def renew_indexes(database: asyncpg.Connection, table: Table) -> None:
    """Inside a transaction, as the superuser. UniqueViolationError when rows are there that a narrower index forbids."""
    changed = []
    if table.indexes:
        await database.execute(f"CREATE TEMP TABLE {TWIN} (LIKE core.{table.name})")
        changed = [each for each in table.indexes if await _differs(database, table, each)]
        await database.execute(f"DROP TABLE pg_temp.{TWIN}")
    for index in changed:
        await database.execute(f"DROP INDEX IF EXISTS core.{index.name}")
        await database.execute(_sql(index))


async def _differs(database: asyncpg.Connection, table: Table, index: Index) -> bool:
    found = await database.fetchval(DEFINITION, f"core.{index.name}")
    if found is None:
        return True
    on_twin = _sql(index).replace(f" ON core.{table.name} ", f" ON pg_temp.{TWIN} ", 1)
    await database.execute(on_twin)
    wanted = await database.fetchval(DEFINITION, f"pg_temp.{index.name}")
    return _shape(found) != _shape(wanted)


def _shape(definition: str) -> str:
    """Without the table's name, which differs."""
    head, _, rest = definition.partition(" ON ")
    return f"{head} {rest.partition(' ')[2]}"


def _sql(index: Index) -> str:
    return str(CreateIndex(index).compile(dialect=DIALECT))
