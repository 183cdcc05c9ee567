"""Mail accounts of people, in console_db. No password, sealed or not (rule 15)."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, ForeignKey, Index, Table, Text, Uuid, text

from services.console.schema import app, when

mail_accounts = Table(
    "mail_accounts",
    app,
    Column("account_id", Uuid, primary_key=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    Column("label", Text, nullable=False),
    Column("connector", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("reads", Boolean, nullable=False),
    Column("sends", Boolean, nullable=False),
    when("at", nullable=False),
    when("deleted_at"),
    Column("version", BigInteger, nullable=False),
    CheckConstraint("reads OR sends"),
    Index("mail_accounts_by_label", "person_id", text("lower(label)"), unique=True, postgresql_where=text("deleted_at IS NULL")),
    Index("mail_accounts_by_secret", "person_id", "connector", "secret", unique=True),
)  # fmt: skip
"""Soft-deleted: the row stays, its secrets are revoked. `version` counts what the agent was told of it."""
