"""How it stands with automations as the agent says, and until when it was told that it may act for their cards."""

from sqlalchemy import BigInteger, Column, Index, Table, Text, Uuid, text

from services.console.schema import app, when

automations = Table(
    "automations",
    app,
    Column("task_id", Uuid, primary_key=True),
    Column("card_id", Uuid, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("instruction_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("zone", Text, nullable=False),
    when("next_at"),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
    Index("automations_by_card", "card_id"),
)
"""The agent's newest word. What an automation does stands on its card alone."""
automation_delegations = Table(
    "automation_delegations",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("operations_hash", Text, nullable=False),
    when("issued_at", nullable=False),
    when("expires_at", nullable=False),
    Index("automation_delegations_by_end", "expires_at"),
)
"""`operations_hash`: SHA-256 of the operations' canonical JSON."""
