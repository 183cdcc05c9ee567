"""The bytes of attachments, as the lock sent them for review."""

from sqlalchemy import CheckConstraint, Column, Index, LargeBinary, Table, Text, Uuid, text

from services.console.schema import app, when

attachments = Table(
    "attachments",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("hash", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    when("at", nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("hash = encode(sha256(data), 'hex')", name="attachments_hash"),
    Index("attachments_by_hash", "hash"),
)
