"""Cards as the connectors wrote them, what became of them, and what people decided."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Table, Text, Uuid

from services.console.schema import app, when

cards = Table(
    "cards",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("card", LargeBinary, nullable=False),
    Column("asker", Text, nullable=False),
    Column("connector", Text, nullable=False),
    when("requested_at", nullable=False),
    when("expires_at", nullable=False),
    Index("cards_by_age", "requested_at"),
)
"""`card`: the canonical bytes; what a decision signs the hash of."""
card_states = Table(
    "card_states",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("state", Text, nullable=False),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
"""No row: nobody has decided."""
card_decisions = Table(
    "card_decisions",
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
    Index("card_decisions_of", "card_id", "at"),
)
"""`outcome`: sent, applied or refused."""
