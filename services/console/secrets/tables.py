"""What the connectors said about secrets, what was asked for, and when each version was last used. No value, sealed or not."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

secrets = Table(
    "secrets",
    app,
    Column("place", Text, primary_key=True),
    Column("surface", Text, nullable=False),
    Column("connector", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("current", Integer, nullable=False),
    Column("versions", JSONB, nullable=False),
    Column("public", JSONB, nullable=False),
    Column("operations", JSONB, nullable=False),
    Column("statement_hash", Text, nullable=False),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
    when("expires_at"),
    Column("warned", Text),
)
"""`version` counts the changes; `expires_at` is that of the version in use; `warned`: what owners and admins were told of it last."""
secret_changes = Table(
    "secret_changes",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("place", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    when("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    Index("secret_changes_of_place", "place", "at"),
)
secret_uses = Table(
    "secret_uses",
    app,
    Column("place", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    when("at", nullable=False),
)
