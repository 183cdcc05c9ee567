"""Checkpoints of the call audit that the lock has witnessed."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, LargeBinary, Table, Text, text

from services.bridge.core_tables import core


def _bytes(name: str) -> Column[Any]:
    return Column(name, LargeBinary, nullable=False)


def _line(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False)


audit_checkpoints = Table(
    "audit_checkpoints",
    core,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    _line("root"),
    _bytes("statement"),
    _bytes("signature"),
    _line("key_id"),
    Column("statement_hash", Text, nullable=False, unique=True),
    _bytes("witness"),
    _bytes("witness_signature"),
    _line("witness_key_id"),
    Column("at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("statement_hash = encode(sha256(statement), 'hex')", name="audit_checkpoints_hash"),
)

GRANTS: dict[str, dict[str, Any]] = {
    audit_checkpoints.name: {
        "select": True,
        "insert": [column.name for column in audit_checkpoints.columns if column.name != "at"],
    }
}
