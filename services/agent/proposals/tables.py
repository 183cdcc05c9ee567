"""What was proposed for publication, and what became of it; whose it was, for the events that come back."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text, Uuid

from services.agent.schema import app, core, line, owned, when, written

proposed_items = Table(
    "proposed_items",
    core,
    *owned(),
    Column("submission_id", Uuid, primary_key=True),
    Column("item_id", Uuid, nullable=False),
    Column("conversation_id", Uuid, nullable=False),
    line("kind"),
    line("lang"),
    line("path"),
    line("title"),
    written("proposed_at"),
    line("state", server_default="handed_in"),
    Column("revision", Integer),
    line("reason", server_default=""),
    when("moved_at"),
    Column("version", BigInteger, nullable=False, server_default="0"),
    Index("proposed_items_by_age", "owner_kind", "owner_id", "proposed_at"),
)
"""`state`: handed_in until the lock has answered, then the lock's word. `revision`, `moved_at`: NULL until then."""

proposal_owners = Table(
    "proposal_owners",
    app,
    Column("submission_id", Uuid, primary_key=True),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
)
"""Whose proposal it is. The lock's events name no owner; nothing of the proposal stands here."""

TABLES = (proposed_items, proposal_owners)
_OWN = ["owner_kind", "owner_id", "submission_id", "item_id", "conversation_id", "kind", "lang", "path", "title"]
GRANTS = {
    "proposed_items": {
        "select": True,
        "insert": _OWN,
        "update": ["state", "revision", "reason", "moved_at", "version"],
        "delete": True,
    }
}
OWNED = frozenset({"proposed_items"})
SQL: list[str] = []
