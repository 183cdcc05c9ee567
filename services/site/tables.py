"""The site's schema as code. All of it is the service's own; what may be shown is decided by signatures, not by rows."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    DateTime,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from services.site.attachments import tables as attachment_tables
from shared.db import delivery_tables
from shared.identity.tables import identity_tables

app = MetaData(schema="app")
outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)
standings, identity_sessions, ended_sign_ins, used_tokens, sign_in_codes = identity_tables(app)
attachments, attachment_uses, unreported_entries = attachment_tables.declare(app)
CORE_GRANTS: dict[str, dict[str, Any]] = {}
CORE_SQL: list[str] = []
core = MetaData(schema="core")


def _line(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False)


def _bytes(name: str) -> Column[Any]:
    return Column(name, LargeBinary, nullable=False)


def _at(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()"))


def _receipt() -> tuple[Column[Any], ...]:
    """The exact bytes that the console and the gate signed."""
    return (
        _bytes("entry"),
        _bytes("signature"),
        _line("key_id"),
        _bytes("statement"),
        _bytes("statement_signature"),
        _line("statement_key_id"),
    )


gate_entries = Table(
    "gate_entries",
    app,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    *_receipt(),
    _line("hash"),
    _line("kind"),
    Column("item_id", Uuid),
    _at("applied_at"),
    Index("gate_entries_items", "item_id", "seq"),
)
"""The site's copy of the gate's log (S6)."""

entries = Table(
    "entries",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    _line("kind"),
    _line("lang"),
    _line("path"),
    _line("audience"),
    _line("content_hash"),
    *_receipt(),
    _bytes("content"),
    _at("applied_at"),
    # not unique: an item's id is derived from the three, and a row put in by hand must not be able to block a real one
    Index("entries_place", "kind", "lang", "path"),
)
"""The published revision of each item, with its receipt."""

tombstones = Table(
    "tombstones",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    _at("withdrawn_at"),
)
"""Items that were withdrawn. The gate's log is what counts; this is for people who look at the database."""

held_entries = Table(
    "held_entries",
    app,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    *_receipt(),
    Column("content", LargeBinary),
    _at("held_at"),
)
"""Entries that came before the one they follow; applied when the gap has closed."""

site_state = Table(
    "site_state",
    app,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    _line("hash"),
    Column("reported_seq", BigInteger, nullable=False),
    _bytes("form_key"),
)
"""One row: the head of our copy of the log, the newest entry that was reported as applied, the key of the forms' tokens."""

sealed_heads = Table(
    "sealed_heads",
    app,
    Column("hash", Text, primary_key=True),
    _line("nonce"),
    _bytes("head"),
    _bytes("signature"),
    _line("key_id"),
    _at("received_at"),
    Index("sealed_heads_received", "received_at"),
)
"""Signed heads of the last days, so that every instance finds the answer to its own question."""

faults = Table(
    "faults",
    app,
    Column("fault", Text, primary_key=True),
    Column("item_id", Uuid),
    Column("path", Text),
    _line("reason"),
    _at("found_at"),
    Column("cleared_at", DateTime(timezone=True)),
)
"""Rows that were not covered by a valid receipt: each found and reported once."""

signals = Table(
    "signals",
    app,
    Column("signal_id", Uuid, primary_key=True),
    _line("kind"),
    Column("item_id", Uuid),
    _line("path"),
    _line("visitor"),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("value", SmallInteger, nullable=False),
    Column("reaction", Text),
    _line("text"),
    _at("received_at"),
    Index("signals_received", "received_at", postgresql_using="brin"),
)
"""Raw signals of the last 7 days."""

votes = Table(
    "votes",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("visitor", Text, primary_key=True),
    Column("value", SmallInteger, nullable=False),
    _at("voted_at"),
    Column("audience", Text, nullable=False, server_default=text("'public'")),
)
"""One vote per visitor and item (rule 25); `audience`: whom the item was for when it was cast."""

visitor_keys = Table(
    "visitor_keys",
    app,
    Column("day", Date, primary_key=True),
    _bytes("key"),
)
"""The key of a day's pseudonyms; thrown away after two days, and with it the way back to a visitor."""
