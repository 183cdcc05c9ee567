"""The schemas that the connectors' tables lie in. `core` belongs to connectors_owner: rows can be added and read, never changed or removed."""

from typing import Any

from sqlalchemy import Column, DateTime, MetaData, Text, text

core = MetaData(schema="core")
app = MetaData(schema="app")


def line(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False)


def written() -> Column[Any]:
    """When the row was written, by the database's clock: the service has no right to state it."""
    return Column("at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()"))
