"""Behavior and virtual tools of an owner."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Table, Uuid, text

from services.agent.schema import core, line, owned, written

behaviors = Table(
    "behaviors",
    core,
    *owned(),
    Column("version", BigInteger, nullable=False),
    CheckConstraint("version > 0", name="behaviors_version"),
)
"""One row per owner: the version that is in force."""

behavior_versions = Table(
    "behavior_versions",
    core,
    *owned(),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("before", BigInteger, nullable=False),
    line("text"),
    Column("conversation_id", Uuid),
    Column("turn_id", Uuid),
    line("sources", server_default=text("'[]'")),
    written(),
    CheckConstraint("before >= 0 AND before < version", name="behavior_versions_before"),
)
"""Every behavior that an owner had; none is rewritten. `before`: what an undo goes back to. `sources`: JSON list of untrusted texts it came from."""

virtual_tools = Table(
    "virtual_tools",
    core,
    *owned(),
    line("name", primary_key=True),
    line("description"),
    line("prompt"),
    line("input_hint", server_default=""),
    Column("enabled", Boolean, nullable=False, server_default=text("true")),
    Column("conversation_id", Uuid),
    Column("turn_id", Uuid),
    line("sources", server_default=text("'[]'")),
    Column("flagged", Boolean, nullable=False, server_default=text("false")),
    written(),
    CheckConstraint("name ~ '^[a-z][a-z0-9_]{0,63}$'", name="virtual_tools_name"),
)

TABLES = (behaviors, behavior_versions, virtual_tools)
OWNED = frozenset(each.name for each in TABLES)


def _kept(table: Table) -> list[str]:
    """The database writes the time."""
    return [each.name for each in table.columns if each.name != "at"]


GRANTS: dict[str, dict[str, Any]] = {
    "behaviors": {"select": True, "insert": True, "update": ["version"], "delete": True},
    "behavior_versions": {"select": True, "insert": _kept(behavior_versions), "delete": True},
    "virtual_tools": {"select": True, "insert": _kept(virtual_tools), "update": ["enabled"], "delete": True},
}
SQL: list[str] = []
