"""The console's copy of the call audit, as it came from the connectors, entry by entry."""

from sqlalchemy import BigInteger, Column, Computed, Index, Integer, Table, Text, Uuid, text

from services.console.schema import app, when

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
    Index("calls_to_target", "target", "seq"),
    Index("calls_with_status", "status", "seq"),
    Index("calls_that_went_badly", "seq", postgresql_where=text("outcome IN ('failed', 'refused', 'lost')")),
    Index("calls_by_hash", "hash"),
    Index("calls_by_id", "call_id"),
)
"""`hash`: the entry's own, NULL for entries of the first version, which did not say it."""
