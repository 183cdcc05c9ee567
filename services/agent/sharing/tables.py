"""What staff let the agent read. It is nobody's: no owner stands in it."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Table, Text, Uuid

from services.agent.schema import app, line, when

shared_records = Table(
    "shared_records",
    app,
    Column("record_id", Uuid, primary_key=True),
    line("kind"),
    line("title"),
    Column("text", Text),
    line("source"),
    line("shared_by"),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
    CheckConstraint("text IS NOT NULL OR (kind, title, source, shared_by) = ('', '', '', '')"),
    Index("shared_records_by_age", "at"),
)
"""`text` NULL: it may be read no more, and nothing of it is left; the row keeps an event that comes late from bringing it back."""

TABLES = (shared_records,)
GRANTS: dict[str, dict[str, object]] = {}
OWNED: frozenset[str] = frozenset()
SQL: list[str] = []
