"""What happened to records of apps, and files that are being imported."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, flag, when

record_history = Table(
    "record_history",
    app,
    Column("position", BigInteger, Identity(), primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("row_key", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("how", Text, nullable=False),
    Column("batch", Uuid),
    Column("undoes", BigInteger),
    when("at", nullable=False),
    CheckConstraint("what IN ('added', 'changed', 'deleted')"),
    Index("record_history_of_row", "app", "table_name", "row_key", "position"),
    Index("record_history_of_table", "app", "table_name", "position"),
    Index("record_history_of_batch", "batch", "position", postgresql_where=text("batch IS NOT NULL")),
    Index("record_history_undone", "undoes", unique=True, postgresql_where=text("undoes IS NOT NULL")),
)
"""`before`, `after`: texts by column; of a change only the columns that differ. `undoes`: the entry that this one takes back."""
record_imports = Table(
    "record_imports",
    app,
    Column("import_id", Uuid, primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("options", JSONB, nullable=False),
    Column("state", Text, nullable=False),
    Column("rows_done", Integer, nullable=False, server_default=text("0")),
    Column("rows_total", Integer),
    Column("rows_bad", Integer, nullable=False, server_default=text("0")),
    Column("report", JSONB),
    Column("reason", Text, nullable=False, server_default=text("''")),
    flag("dry_run"),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    when("at", nullable=False),
    when("moved_at", nullable=False),
    Index("record_imports_by_age", "at"),
)
"""`state`: sent, checking, checked, importing, done, failed. `report`: how the file was read, and its bad lines. `moved_at`: when it last went on."""
import_pieces = Table(
    "import_pieces",
    app,
    Column("import_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("piece", LargeBinary, nullable=False),
)
"""The file of an import, until that is done."""
