"""Which rows changed since their fingerprints were made, and what the lock was told of each column. No value lies here."""

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, Integer, Table, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

leak_todo = Table(
    "leak_todo",
    app,
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("keys", JSONB),
    when("at", nullable=False, server_default=text("clock_timestamp()")),
)
"""`keys`: lists of key values as text; NULL: any row of the table may have changed."""
leak_columns = Table(
    "leak_columns",
    app,
    Column("number", Integer, Identity(always=True), primary_key=True),
    Column("column_id", Uuid, nullable=False, unique=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("column_name", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False, server_default=text("0")),
    Column("whole_sequence", BigInteger, nullable=False, server_default=text("0")),
    Column("complete", Boolean, nullable=False, server_default=text("false")),
    Index("leak_columns_named", "app", "table_name", "column_name", unique=True),
)
"""`sequence`: of the newest event about the column, `whole_sequence`: of the newest that begins anew. Not `complete`: its rows were never looked at with this key."""
leak_marks = Table(
    "leak_marks",
    app,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("row_number", BigInteger, primary_key=True, autoincrement=False),
    Column("mark", BigInteger, primary_key=True, autoincrement=False),
    Index("leak_marks_by_mark", "number", "mark"),
)
"""What the lock was told that each row holds, so that what is not there any more can be taken back. `number`: the column's; `row_number`: made of the row's key."""
leak_lists = Table(
    "leak_lists",
    app,
    Column("one", Boolean, primary_key=True, server_default=text("true")),
    Column("key_id", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("said", Text, nullable=False),
    when("at", nullable=False),
)
"""One row: the list of columns that the lock was told last. `said`: a hash of it."""
