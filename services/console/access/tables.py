"""Keys of the agent's API as they were made here. The key itself stands nowhere."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, Uuid

from services.console.schema import app, when

access_keys = Table(
    "access_keys",
    app,
    Column("id", Uuid, primary_key=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("made_by", Text, nullable=False),
    when("created_at", nullable=False),
    when("expires_at"),
    when("revoked_at"),
    Column("revoked_by", Text),
    Column("version", BigInteger, nullable=False),
    Index("access_keys_of_person", "person_id"),
)
"""`version`: how often the agent was told of it."""
