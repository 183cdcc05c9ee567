"""The agent's settings in force as the agent says, and the changes that people asked for."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from services.console.schema import app, when

agent_settings = Table(
    "agent_settings",
    app,
    Column("name", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("statement_hash", Text, nullable=False),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
agent_setting_changes = Table(
    "agent_setting_changes",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    when("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    Index("agent_setting_changes_of", "name", "subject", "at"),
)
"""`outcome`: sent, applied or refused."""
