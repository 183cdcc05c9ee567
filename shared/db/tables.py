"""The tables of delivery, the same in every service's `app` schema."""

from typing import NamedTuple

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
from sqlalchemy.dialects.postgresql import JSONB

_BUSY = {
    "autovacuum_vacuum_scale_factor": "0",
    "autovacuum_vacuum_threshold": "5000",
    "autovacuum_vacuum_insert_scale_factor": "0.2",
}


class DeliveryTables(NamedTuple):
    outbox: Table
    todo: Table
    sent: Table
    inbox: Table
    parked: Table
    schema_changes: Table


def _at(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()"))


def delivery_tables(app: MetaData) -> DeliveryTables:
    """Declare outbox, todo, sent, inbox, parked and schema_changes in a service's metadata."""
    return DeliveryTables(_outbox(app), _todo(app), _sent(app), _inbox(app), _parked(app), _schema_changes(app))


def _outbox(app: MetaData) -> Table:
    """What was published, exact bytes; kept 7 days. `about` is the aggregate it tells of (null for masses)."""
    return Table(
        "outbox",
        app,
        Column("position", BigInteger, Identity(always=True), primary_key=True),
        Column("event_id", Uuid, nullable=False),
        Column("name", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("lane", Text, nullable=False),
        Column("about", Text),
        Column("key", Text, nullable=False),
        Column("keyversion", BigInteger, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("headers", JSONB, nullable=False),
        _at("occurred_at"),
        UniqueConstraint("subject", "key", "keyversion", name="outbox_history"),
        Index("outbox_about", "about", postgresql_where=text("about IS NOT NULL")),
        Index("outbox_occurred", "occurred_at", postgresql_using="brin"),
    )


def _todo(app: MetaData) -> Table:
    """What is not sent yet: one narrow row beside the outbox row, deleted after the PubAck."""
    return Table(
        "todo",
        app,
        Column("position", BigInteger, primary_key=True),
        Column("lane", Text, nullable=False),
        Index("todo_lane", "lane", "position"),
    )


def _sent(app: MetaData) -> Table:
    """When it was sent: one row per published batch, whose positions lie between first and last in that lane."""
    return Table(
        "sent",
        app,
        Column("batch", BigInteger, Identity(always=True), primary_key=True),
        Column("lane", Text, nullable=False),
        Column("first", BigInteger, nullable=False),
        Column("last", BigInteger, nullable=False),
        Column("count", Integer, nullable=False),
        _at("at"),
        Index("sent_place", "lane", "last"),
    )


def _inbox(app: MetaData) -> Table:
    """Which events had their effect here. `about` is null for masses."""
    return Table(
        "inbox",
        app,
        Column("reader", Text, primary_key=True),
        Column("event_id", Uuid, primary_key=True),
        Column("name", Text, nullable=False),
        Column("about", Text),
        _at("handled_at"),
        Index("inbox_about", "about", postgresql_where=text("about IS NOT NULL")),
        Index("inbox_handled", "handled_at", postgresql_using="brin"),
    )


def _parked(app: MetaData) -> Table:
    """Events (or parts of them) that could not be handled, with the reason; a person replays or drops them."""
    return Table(
        "parked",
        app,
        Column("id", BigInteger, Identity(always=True), primary_key=True),
        Column("event_id", Uuid),
        Column("name", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("headers", JSONB, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("part", LargeBinary),
        Column("reason", Text, nullable=False),
        Column("attempts", Integer, nullable=False),
        _at("parked_at"),
        Column("resolved_at", DateTime(timezone=True)),
        Column("resolution", Text),
        Index("parked_open", "id", postgresql_where=text("resolved_at IS NULL")),
    )


def _schema_changes(app: MetaData) -> Table:
    return Table(
        "schema_changes",
        app,
        Column("id", BigInteger, Identity(always=True), primary_key=True),
        _at("at"),
        Column("who", Text, nullable=False, server_default=text("session_user")),
        Column("statement", Text, nullable=False),
    )


TUNING = [f"ALTER TABLE app.todo SET ({', '.join(f'{k} = {v}' for k, v in _BUSY.items())})"]
"""`todo` churns: vacuum it by count, not by share."""
