"""What an app's SQLAlchemy models declare, as tables of an AppDeclaration: read in the app's own process, checked by the console."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sqlalchemy import Boolean, Date, DateTime, Enum, Float, Integer, MetaData, Numeric, String, types
from sqlalchemy import Column as SqlColumn
from sqlalchemy import Table as SqlTable
from sqlalchemy.schema import UniqueConstraint


class BadModels(ValueError):
    """What cannot be declared, and what to write instead."""


_KINDS: tuple[tuple[Any, str], ...] = (
    (Enum, "text"),
    (String, "text"),
    (Boolean, "boolean"),
    (Integer, "integer"),
    (Numeric, "decimal"),
    (DateTime, "instant"),
    (Date, "date"),
    (types.JSON, "json"),
)


def tables_of(models: ModuleType) -> list[dict[str, Any]]:
    """Every table of every metadata that the module's models stand in, in the order of their declaration."""
    found: dict[str, SqlTable] = {}
    for metadata in _metadata(models):
        found |= metadata.tables
    return [_table(each) for each in found.values()]


def _metadata(models: ModuleType) -> Iterator[MetaData]:
    seen: list[MetaData] = []
    for value in vars(models).values():
        metadata = value if isinstance(value, MetaData) else getattr(value, "metadata", None)
        if isinstance(metadata, MetaData) and not any(metadata is each for each in seen):
            seen.append(metadata)
            yield metadata


def _table(table: SqlTable) -> dict[str, Any]:
    key = [column.name for column in table.primary_key.columns]
    numbered = key == ["id"] and isinstance(table.c.id.type, Integer) and not table.c.id.foreign_keys
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint) and len(constraint.columns) > 1:
            raise BadModels(f"{table.name}: several columns that are unique together must be its primary key")
    once = {next(iter(each.columns)).name for each in table.constraints if isinstance(each, UniqueConstraint)}
    found = {next(iter(each.columns)).name for each in table.indexes if len(each.columns) == 1}
    once |= {next(iter(each.columns)).name for each in table.indexes if each.unique and len(each.columns) == 1}
    columns = [_column(each, once, found) for each in table.columns if not (numbered and each.name == "id")]
    about = {"name": table.name, "title": str(table.info.get("title", "")), "columns": columns}
    return about | {"key": [] if numbered else key, "name_by": table.info.get("name_by")}


def _column(column: SqlColumn[Any], once: set[str], found: set[str]) -> dict[str, Any]:
    where = f"{column.table.name}.{column.name}"
    if len(column.foreign_keys) > 1:
        raise BadModels(f"{where} refers to several columns; one is the most")
    target = next((each.target_fullname for each in column.foreign_keys), None)
    visibility = column.info.get("visibility", "internal")
    choices = list(column.type.enums) if isinstance(column.type, Enum) else []
    about = {"name": column.name, "type": _kind(column, where), "title": str(column.info.get("title", "")), "visibility": visibility}  # fmt: skip
    rights = {
        "required": not column.nullable and not column.primary_key,
        "unique": bool(column.unique) or column.name in once,
    }
    return (
        about | rights | {"index": bool(column.index) or column.name in found, "references": target, "choices": choices}
    )


def _kind(column: SqlColumn[Any], where: str) -> str:
    if isinstance(column.type, Float):
        raise BadModels(f"{where} is a float, in which most decimals are not exact; use Numeric")
    for known, name in _KINDS:
        if isinstance(column.type, known):
            return name
    raise BadModels(
        f"{where} has the type {column.type!r}; there are String, Integer, Numeric, Boolean, Date, DateTime and JSON"
    )
