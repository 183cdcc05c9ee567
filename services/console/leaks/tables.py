"""Which rows changed since their fingerprints were made, and what the lock was told of each column. No value lies here."""

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, Integer, LargeBinary, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

leak_todo = Table(
    "leak_todo",
    app,
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("keys", JSONB),
)
"""`keys`: lists of key values as text; NULL: any row of the table may have changed."""
leak_columns = Table(
    "leak_columns",
    app,
    Column("column_id", Uuid, primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("column_name", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("marks", Integer, nullable=False),
    Column("complete", Boolean, nullable=False),
    when("at", nullable=False),
    Index("leak_columns_named", "app", "table_name", "column_name", unique=True),
)
"""`sequence`: of the newest event about the column; `marks`: how many the lock knows of it."""
leak_rows = Table(
    "leak_rows",
    app,
    Column("column_id", Uuid, primary_key=True),
    Column("row_hash", LargeBinary, primary_key=True),
    Column("marks", LargeBinary, nullable=False),
)
"""What each row's value was told as, 8 bytes a mark, so that a change takes back what is not there any more. `row_hash`: of the row's key."""
