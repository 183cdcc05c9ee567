"""Guests of the site. `link_hash` is the SHA-256 of the link's 256 random bits; the link itself stands nowhere."""

from sqlalchemy import Column, Index, Table, Text, Uuid

from services.console.schema import app, when

guests = Table(
    "guests",
    app,
    Column("subject", Uuid, primary_key=True),
    Column("link_hash", Text, nullable=False, unique=True),
    Column("label", Text, nullable=False),
    when("created_at", nullable=False),
    Column("created_by", Text, nullable=False),
    when("until", nullable=False),
    when("revoked_at"),
    Column("revoked_by", Text),
    Index("guests_by_age", "created_at"),
)
"""`label` says to staff who was invited; it stays inside."""
