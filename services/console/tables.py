"""The console's tables (schema as code). `app` belongs to the service, which creates what is missing at start."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    ForeignKey,
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

from shared.db import delivery_tables

app = MetaData(schema="app")
core = MetaData(schema="core")
CORE_GRANTS: dict[str, dict[str, Any]] = {}
CORE_SQL: list[str] = []

outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)


def _when(name: str, **kw: Any) -> Column[Any]:
    return Column(name, DateTime(timezone=True), **kw)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False, server_default=text("false"))


# people: who may sign in, and with what
people = Table(
    "people",
    app,
    Column("id", Uuid, primary_key=True),
    Column("handle", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("password_hash", Text),
    _flag("disabled"),
    Column("single_keys", Boolean, nullable=False, server_default=text("true")),
    _when("created_at", nullable=False),
    Column("created_by", Text, nullable=False),
)
links = Table(
    "one_time_links",
    app,
    Column("token_hash", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("person_id", Uuid, ForeignKey("app.people.id")),
    _when("created_at", nullable=False),
    _when("expires_at", nullable=False),
    _when("used_at"),
)
sessions = Table(
    "sessions",
    app,
    Column("token_hash", Text, primary_key=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    _when("created_at", nullable=False),
    _when("seen_at", nullable=False),
    Index("sessions_of_person", "person_id"),
)
tokens = Table(
    "api_tokens",
    app,
    Column("id", Uuid, primary_key=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("used_at"),
    _when("revoked_at"),
)
failures = Table(
    "sign_in_failures",
    app,
    Column("subject", Text, primary_key=True),
    Column("failures", Integer, nullable=False),
    _when("failed_at", nullable=False),
    _when("open_at"),
    Index("sign_in_failures_by_age", "failed_at"),
)

# queue: the console's view of what waits at the lock
versions = Table(
    "versions",
    app,
    Column("key", Text, primary_key=True),
    Column("version", Integer, nullable=False),
)
"""How many facts this service has stated about an aggregate; `keyversion` of its next event is one more."""
submissions = Table(
    "submissions",
    app,
    Column("submission_id", Uuid, primary_key=True),
    Column("item_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    _when("at", nullable=False),
    Column("state", Text, nullable=False),
    Column("revision", Integer),
    Column("reason", Text),
    Column("findings", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    Index("submissions_of_item", "item_id"),
    Index("submissions_refused", "at", postgresql_where=text("state = 'refused'")),
)
items = Table(
    "items",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    _when("queued_at", nullable=False),
    Column("blocks", Integer, nullable=False, server_default=text("0")),
    Column("checks", Integer, nullable=False, server_default=text("0")),
    Column("notes", Integer, nullable=False, server_default=text("0")),
    Column("published_revision", Integer),
    _when("published_at"),
    Column("gate_seq", Integer),
    Column("scheduled_revision", Integer),
    _when("publish_at"),
    Column("decided_by", Text),
    Column("decided_name", Text),
    _when("decided_at"),
    Column("deciding", Text),
    Column("live_revision", Integer),
    _when("live_since"),
    _when("gone_since"),
    Column("applied_seq", Integer),
    _when("applied_seen_at"),
    Column("claimed_by", Text),
    Column("claimed_name", Text),
    _when("claimed_until"),
    UniqueConstraint("kind", "lang", "path"),
    Index("items_by_state", "state", "queued_at"),
    Index("items_claimed", "claimed_by", postgresql_where=text("claimed_by IS NOT NULL")),
    Index("items_deciding", "deciding", postgresql_where=text("deciding IS NOT NULL")),
)
revisions = Table(
    "revisions",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("submission_id", Uuid, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("findings", JSONB, nullable=False),
    Column("inspected_ms", Integer, nullable=False),
    _when("queued_at", nullable=False),
    _when("seen_at", nullable=False),
    Column("state", Text, nullable=False),
)
history = Table(
    "item_history",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("verdict", Text),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("statement_hash", Text),
    Column("gate_seq", Integer),
    _when("at", nullable=False),
    Column("event_id", Uuid, nullable=False),
)
decisions = Table(
    "decisions",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("item_id", Uuid, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    _when("at", nullable=False),
    _when("publish_at"),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    _when("outcome_at"),
    Index("decisions_of_item", "item_id", "at"),
    Index("decisions_open", "at", postgresql_where=text("outcome = 'sent'")),
)

# switches
switches = Table(
    "switches",
    app,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _when("at", nullable=False),
    Column("version", Integer, nullable=False),
)
switch_changes = Table(
    "switch_changes",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _when("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("outcome_reason", Text),
    Index("switch_changes_by_age", "at"),
)

# keys: the decision keys of this console, and which one signs
decision_keys = Table(
    "decision_keys",
    app,
    Column("key_id", Text, primary_key=True),
    Column("public_key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("statement_hash", Text, unique=True),
    Column("refusal", Text),
    _when("at", nullable=False),
)
"""`statement_hash`: of the newest change that the lock was asked for; `refusal`: why it said no."""
signing = Table(
    "signing",
    app,
    Column("one", Boolean, CheckConstraint("one"), primary_key=True, server_default=text("true")),
    Column("key_id", Text, ForeignKey("app.decision_keys.key_id"), nullable=False),
    Column("next_key_id", Text, ForeignKey("app.decision_keys.key_id")),
    _flag("revoke_old"),
)
"""One row. `next_key_id` signs once the lock has recorded it."""

# signals
signal_counts = Table(
    "signal_counts",
    app,
    Column("day", Date, primary_key=True),
    Column("item_key", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Index("signal_counts_of_item", "item_key", "day"),
)
"""`item_key` is the item's id, or the path of something that is no item."""
votes = Table(
    "votes",
    app,
    Column("item_key", Text, primary_key=True),
    Column("visitor", Text, primary_key=True),
    Column("value", Integer, nullable=False),
    _when("at", nullable=False),
)
reactions = Table(
    "reactions",
    app,
    Column("item_key", Text, primary_key=True),
    Column("visitor", Text, primary_key=True),
    Column("reaction", Text, primary_key=True),
    _when("at", nullable=False),
)
feedback = Table(
    "feedback",
    app,
    Column("signal_id", Uuid, primary_key=True),
    Column("item_key", Text, nullable=False),
    Column("path", Text, nullable=False),
    _when("at", nullable=False),
    Column("text", Text, nullable=False),
    Index("feedback_by_age", "at"),
    Index("feedback_of_item", "item_key", "at"),
)

# audit
calls = Table(
    "calls",
    app,
    Column("entry_id", Uuid, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    _when("at", nullable=False),
    Column("asker", Text, nullable=False),
    Column("on_behalf_of", Text, nullable=False),
    Column("connector", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("bytes_out", BigInteger, nullable=False),
    Column("bytes_in", BigInteger, nullable=False),
    Column("trace_id", Text, nullable=False),
    Index("calls_by_seq", "seq"),
    Index("calls_by_time", "at"),
)
rejected_rows = Table(
    "rejected_rows",
    app,
    Column("event_id", Uuid, primary_key=True),
    Column("item_id", Uuid),
    Column("path", Text),
    Column("reason", Text, nullable=False),
    _when("found_at", nullable=False),
    Column("seen_by", Text),
)
