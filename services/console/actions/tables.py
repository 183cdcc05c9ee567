"""Action cards as the agent wrote them, what became of them, and what people decided."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Table, Text, Uuid, text

from services.console.schema import app, when

action_cards = Table(
    "action_cards",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("card", LargeBinary, nullable=False),
    Column("owner_id", Text, nullable=False),
    when("requested_at", nullable=False),
    when("expires_at", nullable=False),
    Index("action_cards_by_age", "requested_at"),
    Index("action_cards_of_owner", "owner_id", "requested_at"),
)
"""`card`: the canonical bytes; what a decision signs the hash of."""
action_states = Table(
    "action_states",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
"""No row: the agent has not said what became of it."""
action_decisions = Table(
    "action_decisions",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("card_id", Uuid, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False),
    when("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    Index("action_decisions_of", "card_id", "at"),
)
"""`outcome`: sent, applied or refused."""
