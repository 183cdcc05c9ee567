"""The console's tables (schema as code). `app` belongs to the service, which creates what is missing at start.

Larger subjects declare theirs in a file of their own; importing it here adds them to `app`.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    text,
)

from services.console.access import tables as access
from services.console.actions import tables as actions
from services.console.agency import tables as agency
from services.console.analytics import store as analytics_store
from services.console.analytics import tables as analytics
from services.console.answers import tables as answers
from services.console.apps import core as app_schemas
from services.console.apps import tables as apps
from services.console.attachments import tables as attachments
from services.console.audit import tables as audit
from services.console.automations import tables as automations
from services.console.cards import tables as cards
from services.console.connectors import tables as connectors
from services.console.delegations import tables as delegations
from services.console.guests import tables as guests
from services.console.jobs import tables as jobs
from services.console.leaks import tables as leaks
from services.console.links import tables as links
from services.console.mail import tables as mail
from services.console.mappings import tables as mappings
from services.console.notices import tables as notices
from services.console.people import tables as people
from services.console.proposals import tables as proposals
from services.console.queue import tables as queue
from services.console.records import tables as records
from services.console.schema import app
from services.console.schema import flag as _flag
from services.console.schema import when as _when
from services.console.secrets import tables as secrets
from services.console.sharing import tables as sharing
from services.console.spend import tables as spend
from shared.db import delivery_tables

core = MetaData(schema="core")
CORE_GRANTS: dict[str, dict[str, Any]] = {}
CORE_SQL: list[str] = [*app_schemas.CORE_SQL, *analytics_store.functions()]
SUBJECTS = (
    actions,
    answers,
    jobs,
    people,
    proposals,
    guests,
    queue,
    records,
    notices,
    secrets,
    attachments,
    audit,
    automations,
    connectors,
    cards,
    access,
    agency,
    analytics,
    apps,
    delegations,
    leaks,
    mappings,
    links,
    mail,
    sharing,
    spend,
)

outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)

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

# what the site did not show
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
