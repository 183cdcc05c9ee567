"""The console's copy of the call audit, as it came from the connectors, entry by entry."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)

from services.console.schema import app, flag, when

WORDS = ("asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "secret", "detail")
"""What a free search looks through."""
_SEPARATED = " || chr(31) || ".join(WORDS)


def _line(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


calls = Table(
    "calls",
    app,
    Column("entry_id", Uuid, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    when("at", nullable=False),
    Column("asker", Text, nullable=False),
    Column("on_behalf_of", Text, nullable=False),
    Column("connector", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("duration_ms", Integer),
    Column("bytes_out", BigInteger),
    Column("bytes_in", BigInteger),
    Column("trace_id", Text, nullable=False),
    Column("call_id", Uuid),
    _line("secret"),
    _line("detail"),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("hash", Text),
    Column("words", Text, Computed(_SEPARATED, persisted=True)),
    Index("calls_by_seq", "seq"),
    Index("calls_by_time", "at"),
    Index("calls_of_connector", "connector", "seq"),
    Index("calls_of_asker", "asker", "seq"),
    Index("calls_of_owner", "on_behalf_of", "seq", postgresql_where=text("on_behalf_of <> ''")),
    Index("calls_to_target", "target", "seq", postgresql_ops={"target": "text_pattern_ops"}),
    Index("calls_with_status", "status", "seq"),
    Index("calls_that_went_badly", "seq", postgresql_where=text("outcome IN ('failed', 'refused', 'lost')")),
    Index("calls_by_hash", "hash"),
    Index("calls_by_id", "call_id"),
)
"""`hash`: the entry's own, NULL for entries of the first version, which did not say it."""

audit_checkpoints = Table(
    "audit_checkpoints",
    app,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("root", Text, nullable=False),
    when("at", nullable=False),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("statement_hash", Text, nullable=False, unique=True),
    Column("witness", LargeBinary, nullable=False),
    Column("witness_signature", LargeBinary, nullable=False),
    Column("witness_key_id", Text, nullable=False),
    when("arrived_at", nullable=False, server_default=text("clock_timestamp()")),
)
"""What the connectors signed and the lock countersigned."""

audit_chain = Table(
    "audit_chain",
    app,
    Column("one", Boolean, CheckConstraint("one"), primary_key=True, server_default=text("true")),
    Column("seq", BigInteger, nullable=False, server_default=text("-1")),
    Column("hash", Text, nullable=False, server_default="0" * 64),
    Column("checkpoint", BigInteger, nullable=False, server_default=text("0")),
    Column("first_bad", BigInteger),
    Column("reason", Text, nullable=False, server_default=""),
    flag("recounting"),
    when("began_at", nullable=False, server_default=text("clock_timestamp()")),
    when("looked_at", nullable=False, server_default=text("clock_timestamp()")),
    Column("milliseconds", BigInteger, nullable=False, server_default=text("0")),
)
"""One row: how far the copy was recomputed from its content. `hash`: of entry `seq`. `checkpoint`: size of the last one that it was compared with.

`recounting`: from the beginning, because somebody asked; `began_at`, `milliseconds`: when that was, and the time spent on it.
"""
