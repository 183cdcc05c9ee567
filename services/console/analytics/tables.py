"""What visitors did, row by row; what has to be told to ClickHouse; who asked what of which engine."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, flag, when

interaction_loads = Table(
    "interaction_loads",
    app,
    Column("load", BigInteger, Identity(always=True), primary_key=True),
    when("at", nullable=False, server_default=text("clock_timestamp()")),
    Column("rows", Integer, nullable=False),
)
"""One row for what one transaction brought: the piece in which ClickHouse is told of it."""

interactions = Table(
    "interactions",
    app,
    Column("load", BigInteger, primary_key=True, autoincrement=False),
    Column("n", Integer, primary_key=True, autoincrement=False),
    when("at", nullable=False),
    Column("kind", Text, nullable=False),
    Column("item_id", Uuid),
    Column("lang", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("referrer", Text, nullable=False),
    Column("link_id", Uuid),
    Column("visitor", Text, nullable=False),
    Column("value", SmallInteger, nullable=False),
    Index("interactions_by_time", "at", postgresql_using="brin"),
    Index("interactions_of_item", "item_id", "at", postgresql_where=text("item_id IS NOT NULL")),
)
"""`n`: its place in the load. `lang`: of the item, else empty. `visitor`: the day's pseudonym. Texts of visitors are not here."""

warehouse_todo = Table(
    "warehouse_todo",
    app,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("source", Text, nullable=False),
    Column("chunk", BigInteger, nullable=False),
    flag("afresh"),
    Index("warehouse_todo_by_source", "source", "chunk"),
)
"""Pieces of a source that changed since ClickHouse was told. Written by triggers, so by whoever writes. `afresh`: rows were
rewritten, the piece is told again as a whole. `chunk` -1: everything was emptied."""

warehouse = Table(
    "warehouse",
    app,
    Column("one", Boolean, CheckConstraint("one"), primary_key=True, server_default=text("true")),
    Column("generation", Integer, nullable=False, server_default=text("1")),
    when("synced_at"),
    Column("rows", BigInteger),
    Column("fault", Text),
)
"""One row. A copy of another generation is emptied and told everything again."""

rollup_runs = Table(
    "rollup_runs",
    app,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    when("at", nullable=False, server_default=text("clock_timestamp()")),
    Column("by_name", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("question", JSONB, nullable=False),
    Column("rows", BigInteger),
    Column("milliseconds", Double, nullable=False),
    Column("planned", Double),
    Index("rollup_runs_by_engine", "engine", "id"),
)
"""What was asked of which engine, by whom and why. `planned`: Postgres' own estimate, in its units of cost."""
