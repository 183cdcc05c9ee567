"""The schemas that the agent's tables lie in. `core` belongs to agent_owner; row security divides what is somebody's by owner (architecture 4).

A table of one owner's things begins with `*owned()`, is keyed by owner first, stands in its part's OWNED, and is reached by `Database.owned` alone.
"""

from typing import Any

from sqlalchemy import CheckConstraint, Column, DateTime, MetaData, Text, text

core = MetaData(schema="core")
app = MetaData(schema="app")


def owned() -> tuple[Any, ...]:
    """Whose row it is. The kind is part of who it is: (user, 7) and (guest, 7) share nothing."""
    return (
        Column("owner_kind", Text, primary_key=True),
        Column("owner_id", Text, primary_key=True),
        CheckConstraint("owner_kind IN ('user', 'guest')"),
        CheckConstraint("owner_id <> ''"),
    )


def line(name: str, **kw: Any) -> Column[Any]:
    return Column(name, Text, nullable=False, **kw)


def when(name: str, **kw: Any) -> Column[Any]:
    """A time, with its zone."""
    return Column(name, DateTime(timezone=True), **kw)


def written(name: str = "at") -> Column[Any]:
    """When the row was written, by the database's clock."""
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()"))
