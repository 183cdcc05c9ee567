"""Which set of fingerprints was taken last: its number, and whether another one would say anything new. Never the set itself."""

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, Integer, Table, Text

from services.connectors.schema import app

fingerprint_sets = Table(
    "fingerprint_sets",
    app,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    Column("taken_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("id = 1", name="fingerprint_sets_one"),
)
