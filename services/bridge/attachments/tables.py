"""Bytes that came for a submission, submissions that wait for theirs, and the bytes of every revision."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from services.bridge.core_tables import core

_NOW = text("clock_timestamp()")

attachments = Table(
    "attachments",
    core,
    Column("hash", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=_NOW),
    CheckConstraint("hash = encode(sha256(data), 'hex')", name="attachments_hash"),
)
"""What the contents of revisions name, byte for byte; never changed or removed, like the revisions themselves."""

GRANTS: dict[str, dict[str, Any]] = {attachments.name: {"select": True, "insert": ["hash", "data"]}}


def declare(app: MetaData) -> tuple[Table, Table]:
    """The tables of what waits, in the service's own schema."""
    arrived = Table(
        "arrived_attachments",
        app,
        Column("submission_id", Uuid, primary_key=True),
        Column("hash", Text, primary_key=True),
        Column("sender", Text, nullable=False),
        Column("data", LargeBinary, nullable=False),
        Column("at", DateTime(timezone=True), nullable=False, server_default=_NOW),
        Index("arrived_attachments_by_age", "at"),
    )
    held = Table(
        "held_submissions",
        app,
        Column("position", BigInteger, Identity(always=True), primary_key=True),
        Column("submission_id", Uuid, nullable=False, unique=True),
        Column("item_id", Uuid, nullable=False),
        Column("sender", Text, nullable=False),
        Column("hashes", ARRAY(Text), nullable=False),
        Column("subject", Text, nullable=False),
        Column("headers", JSONB, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("at", DateTime(timezone=True), nullable=False, server_default=_NOW),
    )
    return arrived, held
