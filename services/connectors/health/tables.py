"""How each connector was when it was asked last, and when that was."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Table, Text

from services.connectors.schema import app

connector_checks = Table(
    "connector_checks",
    app,
    Column("name", Text, primary_key=True),
    Column("declared", Text, nullable=False),
    Column("claimed_at", DateTime(timezone=True), nullable=False),
    Column("ok", Boolean),
    Column("reason", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("checked_at", DateTime(timezone=True)),
)
"""`declared`: the declaration that was asked for. `claimed_at`: when an instance took it on. `version` counts the answers that said something new."""
