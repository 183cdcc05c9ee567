"""The schema that the console's tables lie in, and the columns that many of them have."""

from typing import Any

from sqlalchemy import Boolean, Column, DateTime, MetaData, text

app = MetaData(schema="app")


def when(name: str, **kw: Any) -> Column[Any]:
    """A time, with its zone."""
    return Column(name, DateTime(timezone=True), **kw)


def flag(name: str) -> Column[Any]:
    """No, unless said otherwise."""
    return Column(name, Boolean, nullable=False, server_default=text("false"))
