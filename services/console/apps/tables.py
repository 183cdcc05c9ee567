"""What was sent as an app, what a person approved of it, and which apps there are. Their own tables lie in a schema each."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, Table, Text, text

from services.console.schema import app, flag, when

app_packages = Table(
    "app_packages",
    app,
    Column("folder_hash", Text, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("declaration", LargeBinary, nullable=False),
    Column("has_code", Boolean, nullable=False),
    Column("files", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sent_by", Text, nullable=False),
    when("sent_at", nullable=False),
    when("expires_at", nullable=False),
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    Index("app_packages_by_age", "sent_at"),
)
"""`declaration`: canonical JSON of what app.toml says. `state`: waiting, installed, refused, replaced."""
app_files = Table(
    "app_files",
    app,
    Column("folder_hash", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
apps = Table(
    "apps",
    app,
    Column("slug", Text, primary_key=True),
    Column("declaration", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("version", Integer, nullable=False),
    Column("folder_hash", Text, nullable=False),
    Column("role", Text, unique=True),
    flag("shared"),
    Column("stated_version", BigInteger, nullable=False, server_default=text("0")),
    Column("by_name", Text, nullable=False),
    when("installed_at", nullable=False),
)
"""`stated_version`: how often the agent was told of it."""
app_decisions = Table(
    "app_decisions",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("folder_hash", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("opening", LargeBinary, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    when("at", nullable=False),
    Column("version", Integer, nullable=False),
    Index("app_decisions_of", "slug", "version", unique=True),
)
"""Signed approvals, as they were signed. `version` counts the decisions about an app."""
