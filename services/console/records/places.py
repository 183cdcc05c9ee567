"""Where a shape's rows lie, as SQLAlchemy knows it and as a statement written by hand says it."""

from sqlalchemy import Table as SqlTable

from services.console.apps.declared import built, quoted
from services.console.records.domain import Shape


def sql_of(shape: Shape) -> SqlTable:
    return built(shape.schema, shape.table)


def place_of(shape: Shape) -> str:
    return f"{quoted(shape.schema)}.{quoted(shape.name)}"
