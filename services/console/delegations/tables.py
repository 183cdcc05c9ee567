"""What the agent was last told that it may do for whom."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, Uuid

from services.console.schema import app, when

delegations = Table(
    "delegations",
    app,
    Column("person_id", Uuid, ForeignKey("app.people.id"), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("operations_hash", Text, nullable=False),
    when("issued_at", nullable=False),
    when("expires_at", nullable=False),
    Index("delegations_by_end", "expires_at"),
)
"""`operations_hash`: SHA-256 of the operations' canonical JSON."""
