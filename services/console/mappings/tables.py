"""Mappings from records to pages, and what was handed in by them."""

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, Integer, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

mappings = Table(
    "mappings",
    app,
    Column("mapping_id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("columns", JSONB, nullable=False),
    Column("filters", JSONB, nullable=False),
    Column("sort", Text, nullable=False),
    Column("down", Boolean, nullable=False),
    Column("kind", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("template", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    when("at", nullable=False),
    Index("mappings_of", "app", "table_name"),
)
mapping_uses = Table(
    "mapping_uses",
    app,
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    Column("mapping_id", Uuid, nullable=False),
    Column("submission_id", Uuid, nullable=False),
    Column("item_id", Uuid, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("by_name", Text, nullable=False),
    when("at", nullable=False),
    Index("mapping_uses_of", "mapping_id", "position"),
)
"""What was handed to the lock: from how many rows, by whom."""
