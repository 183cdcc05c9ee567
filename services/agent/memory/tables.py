"""Which files of a workspace hold text that came from outside (S11). The files themselves lie in their folder."""

from typing import Any

from sqlalchemy import Table, Text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.schema import Column

from services.agent.schema import core, owned, written

workspace_marks = Table(
    "workspace_marks",
    core,
    *owned(),
    Column("path", Text, primary_key=True),
    Column("content_hash", Text, primary_key=True),
    Column("sources", ARRAY(Text), nullable=False),
    written(),
)
"""A file counts as from outside by its path, and by its content under whatever name: whoever renames it by hand does not wash it."""

TABLES = (workspace_marks,)
GRANTS: dict[str, dict[str, Any]] = {
    "workspace_marks": {
        "select": True,
        "insert": ["owner_kind", "owner_id", "path", "content_hash", "sources"],
        "update": ["sources"],
        "delete": True,
    }
}
OWNED = frozenset({"workspace_marks"})
SQL: list[str] = []
