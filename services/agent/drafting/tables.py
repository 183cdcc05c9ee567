"""What was proposed to the console and what came of it; and the apps that staff let the agent know of."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Table, Text, Uuid, text

from services.agent.schema import app, core, line, owned, when, written

drafts = Table(
    "drafts",
    core,
    *owned(),
    Column("proposal_id", Uuid, primary_key=True),
    Column("conversation_id", Uuid),
    line("about"),
    line("title"),
    line("place"),
    line("body"),
    written("proposed_at"),
    line("state", server_default=text("'handed_in'")),
    line("reason", server_default=text("''")),
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("undated", BigInteger),
    line("understood", server_default=text("''")),
    line("next", server_default=text("'[]'")),
    when("moved_at"),
    Column("version", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("about IN ('app', 'record', 'job')", name="drafts_about"),
    Index("drafts_by_age", "owner_kind", "owner_id", "proposed_at"),
)
"""`place`: app and table. `body`: JSON of what was proposed. `state`: handed_in until the console has answered, then its word. `next`: JSON list of times."""

known_apps = Table(
    "known_apps",
    app,
    Column("slug", Text, primary_key=True),
    Column("declaration", Text),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
)
"""Apps that staff let the agent know of: what they are made of, no rows. `declaration` NULL: it may know of it no more."""

TABLES = (drafts, known_apps)
OWNED = frozenset({"drafts"})
_OWN = ["owner_kind", "owner_id", "proposal_id", "conversation_id", "about", "title", "place", "body"]
_MOVED = ["state", "reason", "rows", "bytes", "undated", "understood", "next", "moved_at", "version"]
GRANTS: dict[str, dict[str, Any]] = {"drafts": {"select": True, "insert": _OWN, "update": _MOVED, "delete": True}}
SQL: list[str] = []
