"""Connectors in force as the connectors service says, and the changes that people asked for."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY

from services.console.schema import app, when

connectors = Table(
    "connectors",
    app,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("hosts", ARRAY(Text), nullable=False),
    Column("settings", Text, nullable=False),
    Column("statement_hash", Text, nullable=False),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
connector_health = Table(
    "connector_health",
    app,
    Column("name", Text, primary_key=True),
    Column("ok", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
connector_changes = Table(
    "connector_changes",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    when("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    Index("connector_changes_of", "name", "at"),
)
"""`outcome`: sent, applied or refused."""
