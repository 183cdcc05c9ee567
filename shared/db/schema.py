"""Schema as code: create what is missing, add columns, refuse anything destructive, check what others own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, MetaData, Table, create_mock_engine, inspect
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.schema import CreateColumn

from shared.db.engine import Database
from shared.db.raw import Raw
from shared.db.tables import TUNING
from shared.db.transaction import Tx
from shared.errors import Permanent

_DIALECT: Any = postgresql.dialect()  # type: ignore[no-untyped-call]
_QUOTED = _DIALECT.identifier_preparer.quote
_RECORD = "INSERT INTO app.schema_changes (statement) VALUES ($1)"
_LOCK = "SELECT pg_advisory_lock(hashtext('schleuse schema'))"
_CORE = """
SELECT pg_get_userbyid(c.relowner) <> current_user AS foreign_owner,
       has_table_privilege(c.oid, 'SELECT') AS can_select,
       has_any_column_privilege(c.oid, 'UPDATE') AS can_update,
       has_table_privilege(c.oid, 'DELETE') AS can_delete,
       has_table_privilege(c.oid, 'TRUNCATE') AS can_truncate,
       c.relrowsecurity AND c.relforcerowsecurity AS by_owner,
       has_schema_privilege('core', 'CREATE') AS can_create
  FROM pg_class c WHERE c.oid = to_regclass($1)
"""


async def create_missing(db: Database, app: MetaData) -> list[str]:
    """Bring schema `app` up to the declaration; returns the statements that were run, each logged in schema_changes.

    Only CREATE, ADD COLUMN, and DROP NOT NULL. Permanent when a column's type differs from the declaration: that needs a person.
    """
    engine = create_async_engine("postgresql+asyncpg://", async_creator=db.connect, isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            raw: Any = (await connection.get_raw_connection()).driver_connection
            await raw.execute(_LOCK)
            statements = await connection.run_sync(_missing, app)
            for statement in statements:
                await raw.execute(statement)
            if statements:
                await raw.executemany(_RECORD, [(statement,) for statement in statements])
            return statements
    finally:
        await engine.dispose()


async def add_missing(tx: Tx, metadata: MetaData) -> list[str]:
    """The same for another schema that this role may create in, within a transaction: all of it or nothing."""
    statements = await tx.inspected(partial(_missing, app=metadata))
    for statement in statements:
        await tx.raw.execute(statement)
    await log_changes(tx, statements)
    return statements


async def log_changes(tx: Tx, statements: Sequence[str]) -> None:
    """Statements that changed a schema are kept: who, when, what."""
    await tx.raw.executemany(_RECORD, [(statement,) for statement in statements])


def _missing(connection: Connection, app: MetaData) -> list[str]:
    present, schema = inspect(connection), app.schema or "app"
    names = set(present.get_table_names(schema=schema))
    new = [table for table in app.sorted_tables if table.name not in names]
    statements = _creates(new)
    for table in app.sorted_tables:
        if table.name in names:
            have_columns = present.get_columns(table.name, schema)
            statements += _additions(table, {each["name"]: each["type"] for each in have_columns})
            statements += _loosenings(table, {each["name"] for each in have_columns if not each["nullable"]})
            have = {each["name"] for each in present.get_indexes(table.name, schema)}
            statements += _creates_indexes(table, have)
    return statements + [each for each in TUNING if any(f"{schema}.{table.name} " in each for table in new)]


def _creates(tables: Iterable[Table]) -> list[str]:
    found: list[str] = []

    def keep(statement: Any, *_: object, **__: object) -> None:
        statement.if_not_exists = True
        found.append(str(statement.compile(dialect=_DIALECT)).strip())

    engine = create_mock_engine("postgresql+asyncpg://", keep)
    for table in tables:
        table.create(engine, checkfirst=False)
    return found


def _creates_indexes(table: Table, have: set[str | None]) -> list[str]:
    from sqlalchemy.schema import CreateIndex  # noqa: PLC0415 - only when a table is older than its declaration

    wanted = sorted(table.indexes, key=lambda index: str(index.name))
    return [str(CreateIndex(each).compile(dialect=_DIALECT)).strip() for each in wanted if each.name not in have]


def _additions(table: Table, have: dict[str, Any]) -> list[str]:
    found = []
    for column in table.columns:
        if column.name not in have:
            found.append(_addition(table, column))
        elif _sql_type(column.type) != _sql_type(have[column.name]):
            raise Permanent(
                f"{table.fullname}.{column.name} is {_sql_type(have[column.name])} and should be {_sql_type(column.type)};"
                " changing a type is not additive and is left to a person",
                code="destructive",
            )
    return found


def _loosenings(table: Table, filled: set[str]) -> list[str]:
    """What every row had to say may be left open from now on (rule 30): no row becomes wrong by that."""
    open_now = [each.name for each in table.columns if each.nullable and each.name in filled]
    return [f"ALTER TABLE {_place(table)} ALTER COLUMN {_QUOTED(name)} DROP NOT NULL" for name in open_now]


def _addition(table: Table, column: Column[Any]) -> str:
    if not column.nullable and column.server_default is None:
        raise Permanent(
            f"{table.fullname}.{column.name} cannot be added: it is NOT NULL without a default", code="destructive"
        )
    return f"ALTER TABLE {_place(table)} ADD COLUMN {CreateColumn(column).compile(dialect=_DIALECT)}"


def _place(table: Table) -> str:
    return str(_DIALECT.identifier_preparer.format_table(table))


def _sql_type(kind: Any) -> str:
    return str(kind.compile(dialect=_DIALECT))


@dataclass(frozen=True)
class Protection:
    """What a service says of its protected tables: what it may do there (table -> privilege), and which tables row security divides by owner."""

    grants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()


async def verify_core(db: Database, core: MetaData, protection: Protection) -> None:
    """Permanent when a protected table is missing, owned by the service, open to more than is declared, or not divided by owner as declared."""
    connection: Raw = await db.connect()
    try:
        for table in core.sorted_tables:
            row = await connection.fetchrow(_CORE, f"core.{table.name}")
            fault = "is missing" if row is None else _core_fault(row, protection, table.name)
            if fault:
                raise Permanent(f"the protected table core.{table.name} {fault}; run `schleuse up` to provision again")
    finally:
        await connection.close()


def _core_fault(row: Any, protection: Protection, name: str) -> str | None:
    granted = protection.grants.get(name, {})
    faults = {
        "is owned by the service": not row["foreign_owner"],
        "cannot be read": not row["can_select"] and bool(granted.get("select", True)),
        "may be rewritten by the service": row["can_update"] and not granted.get("update"),
        "may be emptied by the service": row["can_truncate"] or (row["can_delete"] and not granted.get("delete")),
        "is not divided by owner": name in protection.owned and not row["by_owner"],
        "lies in a schema where the service may create": row["can_create"],
    }
    return next((words for words, found in faults.items() if found), None)
