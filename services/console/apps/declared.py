"""A declared table as SQLAlchemy knows it. Pure.

Every table has, beside its columns, `_version` (counts the changes of a row), `_changed_at` and `_changed_by`; a table without a key has `id`.
Names may be words of SQL, so statements written by hand quote them (`quoted`). Foreign keys are made by the store and stand in the
declaration; they are left out here, so that tables may refer to one another in a circle.
"""

from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Boolean, Date, DateTime, Identity, Index, MetaData, Numeric, Text, text
from sqlalchemy import Column as SqlColumn
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects.postgresql import JSONB

from schemas.text import sha256
from schemas.work import Column, ColumnType, Table
from services.console.apps.domain import InstalledApp, key_columns
from shared.errors import NotFound

TYPES: dict[ColumnType, Any] = {
    "text": Text,
    "integer": BigInteger,
    "decimal": Numeric,
    "boolean": Boolean,
    "date": Date,
    "instant": lambda: DateTime(timezone=True),
    "json": JSONB,
}
OWN = ("_version", "_changed_at", "_changed_by")
"""Columns that every table has and no declaration names."""
LONGEST_NAME = 63
"""Bytes of a name in Postgres."""


def sql_table(app: InstalledApp, table: str) -> SqlTable:
    """NotFound when the app declares no such table."""
    found = app.table(table)
    if found is None:
        raise NotFound(f"The app {app.slug} has no table {table}.")
    return built(app.schema_name, found)


@lru_cache(maxsize=256)
def built(schema: str, table: Table) -> SqlTable:
    return built_into(MetaData(schema=schema), table)


def built_into(metadata: MetaData, table: Table) -> SqlTable:
    columns = [_sql_column(each, is_key=each.name in table.key) for each in table.columns]
    numbered = () if table.key else (SqlColumn("id", BigInteger, Identity(), primary_key=True),)
    return SqlTable(table.name, metadata, *numbered, *columns, *_own(), *_indexes(table))


def quoted(name: str) -> str:
    """A name in a statement written by hand. Names of apps have no quotes; whatever else comes is made harmless."""
    return '"' + name.replace('"', '""') + '"'


def place(app: InstalledApp, table: str) -> str:
    """`"app_crm"."customers"`; NotFound when the app declares no such table."""
    found = sql_table(app, table)
    return f"{quoted(str(found.schema))}.{quoted(found.name)}"


def short_name(*parts: str) -> str:
    """A name of an index or a constraint that says what it is for, within what Postgres keeps of it."""
    whole = "_".join(parts)
    return whole if len(whole) <= LONGEST_NAME else f"{whole[: LONGEST_NAME - 9]}_{sha256(whole.encode())[:8]}"


def _sql_column(column: Column, *, is_key: bool) -> SqlColumn[Any]:
    return SqlColumn(
        column.name,
        TYPES[column.type](),
        primary_key=is_key,
        autoincrement=False,
        nullable=not (is_key or column.required),
    )


def _own() -> tuple[SqlColumn[Any], ...]:
    return (
        SqlColumn("_version", BigInteger, nullable=False, server_default=text("1")),
        SqlColumn("_changed_at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
        SqlColumn("_changed_by", Text, nullable=False, server_default=text("''")),
    )


def _indexes(table: Table) -> list[Index]:
    found = []
    for column in table.columns:
        if table.key == (column.name,):
            continue
        if column.unique:
            found.append(Index(short_name(table.name, column.name, "once"), column.name, unique=True))
        elif (column.index or column.references) and column.type != "json":
            key = [
                each for each in key_columns(table) if each != column.name
            ]  # a page of rows goes on by value, then by key
            found.append(Index(short_name(table.name, column.name, "found"), column.name, *key))
    return found
