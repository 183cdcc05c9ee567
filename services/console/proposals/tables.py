"""What the agent proposed, and what became of it."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Table, Text, Uuid, text

from services.console.schema import app, when

proposals = Table(
    "proposals",
    app,
    Column("proposal_id", Uuid, primary_key=True),
    Column("about", Text, nullable=False),
    Column("app_slug", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("owner_name", Text, nullable=False),
    Column("conversation_id", Uuid),
    Column("turn_id", Uuid),
    Column("why", Text, nullable=False),
    Column("sources", Text, nullable=False, server_default=text("'[]'")),
    when("at", nullable=False),
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("decided_by", Text),
    Column("decided_by_id", Text),
    when("decided_at"),
    Column("version", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("about IN ('app', 'record', 'job')", name="proposals_about"),
    CheckConstraint("state IN ('waiting', 'accepted', 'refused', 'failed', 'ended')", name="proposals_state"),
    Index("proposals_by_age", "at"),
    Index("proposals_waiting", "at", postgresql_where=text("state = 'waiting'")),
    Index("proposals_of_owner", "owner_id", "at"),
)
"""`body`: canonical JSON of what is proposed, as it came. `version` counts what the agent was told of it."""
