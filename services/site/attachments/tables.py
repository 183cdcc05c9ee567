"""Attachments of published items, and which item uses which. What may be served is decided by signed decisions, not by rows."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
    text,
)


def declare(app: MetaData) -> tuple[Table, Table, Table]:
    attachments = Table(
        "attachments",
        app,
        Column("hash", Text, primary_key=True),
        Column("data", LargeBinary, nullable=False),
        Column("received_at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
        CheckConstraint("hash = encode(sha256(data), 'hex')", name="attachments_hash"),
        Index("attachments_by_age", "received_at"),
    )
    uses = Table(
        "attachment_uses",
        app,
        Column("item_id", Uuid, primary_key=True),
        Column("hash", Text, primary_key=True),
        Index("attachment_uses_by_hash", "hash"),
    )
    unreported = Table(
        "unreported_entries",
        app,
        Column("item_id", Uuid, primary_key=True),
        Column("seq", BigInteger, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("content_hash", Text, nullable=False),
    )
    return attachments, uses, unreported
