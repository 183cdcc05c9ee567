"""The table of what people signed, the same wherever it is acted on: added to and read, never changed."""

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
    text,
)


def statements_table(core: MetaData) -> Table:
    """Signed statements in the order in which they came. `purpose` and `subject` are for people who look; what counts is read from the signed bytes."""
    lines = {name: Column(name, Text, nullable=False) for name in ("purpose", "subject", "key_id")}
    opening = (Column(name, Text, nullable=False) for name in ("person_id", "person_name", "via", "reason", "nonce"))
    return Table(
        "statements",
        core,
        Column("position", BigInteger, Identity(always=True), primary_key=True),
        lines["purpose"],
        lines["subject"],
        Column("statement", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        lines["key_id"],
        Column("statement_hash", Text, nullable=False, unique=True),
        *opening,
        Column("at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
        CheckConstraint("statement_hash = encode(sha256(statement), 'hex')", name="statements_hash"),
        Index("statements_of", "subject", "position"),
    )
