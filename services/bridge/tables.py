"""The bridge's schema as code.

`core` (core_tables.py, guards.py) is append-only for the service. `app` is the service's own: it holds the mutable present state,
which can be rebuilt from `core`.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from services.bridge.attachments import tables as attachments
from services.bridge.core_tables import CORE_GRANTS as OWN_GRANTS
from services.bridge.core_tables import core
from services.bridge.guards import CORE_SQL
from services.bridge.witness import tables as witness
from shared.db import delivery_tables

__all__ = ["CORE_GRANTS", "CORE_SQL", "app", "core"]

CORE_GRANTS = OWN_GRANTS | witness.GRANTS | attachments.GRANTS

app = MetaData(schema="app")
outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)
arrived_attachments, held_submissions = attachments.declare(app)

items = Table(
    "items",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("published_revision", Integer),
    Column("scheduled_revision", Integer),
    Column("publish_at", DateTime(timezone=True)),
    Column("version", BigInteger, nullable=False),
    Column("expire_at", DateTime(timezone=True)),
    Column("decided", Text),
    UniqueConstraint("kind", "lang", "path"),
    Index("items_comments_waiting", "state", postgresql_where=text("kind = 'comment'")),
    Index("items_scheduled", "publish_at", postgresql_where=text("scheduled_revision IS NOT NULL")),
    Index("items_expiring", "expire_at", postgresql_where=text("expire_at IS NOT NULL")),
)
"""`expire_at`: of the published revision. `decided`: the verdict's statement that led to the present version; NULL when anything else did."""

gate_requests = Table(
    "gate_requests",
    app,
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    Column("event_id", Uuid, nullable=False, unique=True),
    Column("nonce", Text, nullable=False),
    Column("after_seq", BigInteger, nullable=False),
)

fingerprints = Table(
    "fingerprints",
    app,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("parts", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""The newest set that the connectors took of their secrets, as it came. Whether it counts is read from its bytes and their key."""

column_fingerprints = Table(
    "column_fingerprints",
    app,
    Column("column_id", Uuid, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("key_id", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""What the console told of its internal columns since each one's newest whole set, as it came. Whether it counts is read from its bytes and their key."""
