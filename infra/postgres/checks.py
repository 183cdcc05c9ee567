"""CHECK constraints of protected tables say what the code declares: an older wording, or one that somebody weakened, is replaced.

The declaration is put on an empty temporary twin of the table, so that the server spells both sides and they can be compared.
"""

import asyncpg
from sqlalchemy import CheckConstraint, Table
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.schema import AddConstraint

DIALECT = dialect()  # type: ignore[no-untyped-call]
TWIN = "declared_twin"
DEFINITIONS = (
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'"
)


async def renew_checks(database: asyncpg.Connection, table: Table) -> None:
    """Inside a transaction, as the superuser. CheckViolationError when rows are there that the declaration forbids."""
    declared = {str(each.name): _sql(each) for each in table.constraints if _is_named_check(each)}
    if not declared:
        return
    name = f"core.{table.name}"
    await database.execute(f"CREATE TEMP TABLE {TWIN} (LIKE {name})")
    for statement in declared.values():
        await database.execute(statement.replace(f"TABLE {name} ", f"TABLE pg_temp.{TWIN} ", 1))
    wanted, found = await _definitions(database, f"pg_temp.{TWIN}"), await _definitions(database, name)
    await database.execute(f"DROP TABLE pg_temp.{TWIN}")
    for constraint, statement in declared.items():
        if found.get(constraint) == wanted[constraint]:
            continue
        if constraint in found:
            await database.execute(f"ALTER TABLE {name} DROP CONSTRAINT {constraint}")
        await database.execute(statement)


async def _definitions(database: asyncpg.Connection, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in await database.fetch(DEFINITIONS, table)}


def _is_named_check(constraint: object) -> bool:
    return isinstance(constraint, CheckConstraint) and isinstance(constraint.name, str)


def _sql(constraint: object) -> str:
    return str(AddConstraint(constraint).compile(dialect=DIALECT))  # type: ignore[arg-type]
