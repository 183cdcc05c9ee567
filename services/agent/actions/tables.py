"""Action cards, what people decided on them, and what became of them. Divided by owner; only where a card is, nobody's secret, is found without one."""

from typing import Any

from sqlalchemy import CheckConstraint, Column, Index, LargeBinary, Table, Text, Uuid, text

from services.agent.schema import app, core, line, owned, when, written

action_cards = Table(
    "action_cards",
    core,
    *owned(),
    Column("card_id", Uuid, primary_key=True),
    Column("conversation_id", Uuid, nullable=False),
    Column("turn_id", Uuid, nullable=False),
    line("tool"),
    Column("card", LargeBinary, nullable=False),
    Column("card_hash", Text, nullable=False),
    when("requested_at", nullable=False),
    when("expires_at", nullable=False),
    written(),
    CheckConstraint("card_hash = encode(sha256(card), 'hex')", name="action_cards_hash"),
    Index("action_cards_of_conversation", "owner_kind", "owner_id", "conversation_id"),
)
"""`card`: the canonical bytes; what a decision signs the hash of, and what is run."""
action_decisions = Table(
    "action_decisions",
    core,
    *owned(),
    Column("card_id", Uuid, primary_key=True),
    line("verdict"),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    Column("opening", LargeBinary, nullable=False),
    written(),
)
"""One for each card: a second one decides nothing. It is verified once more before anything is run."""
action_revocations = Table(
    "action_revocations",
    core,
    *owned(),
    Column("card_id", Uuid, primary_key=True),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    Column("opening", LargeBinary, nullable=False),
    written(),
)
"""An automation that was allowed, taken back: whatever stands beside it, it runs no more."""
action_runs = Table("action_runs", core, *owned(), Column("card_id", Uuid, primary_key=True), line("part"), written())
"""An action that was begun: never begun a second time, whatever became of it."""
action_ends = Table(
    "action_ends",
    core,
    *owned(),
    Column("card_id", Uuid, primary_key=True),
    line("state"),
    line("reason"),
    Column("statement_hash", Text),
    written(),
    CheckConstraint("state IN ('done', 'failed', 'refused', 'expired')", name="action_ends_state"),
)
action_places = Table(
    "action_places",
    app,
    Column("card_id", Uuid, primary_key=True),
    line("owner_kind"),
    line("owner_id"),
    when("expires_at", nullable=False),
    line("phase"),
    line("by", server_default=text("''")),
    when("since"),
    CheckConstraint("phase IN ('waiting', 'decided', 'running', 'untold', 'ended')", name="action_places_phase"),
    Index("action_places_open", "expires_at", postgresql_where=text("phase <> 'ended'")),
)
"""Whose a card is, and how far it has come: what there is to do. Nothing here lets anything run; that takes a signed decision beside the card."""

TABLES = (action_cards, action_decisions, action_revocations, action_runs, action_ends)
OWNED = frozenset(table.name for table in TABLES)
_ADDED: dict[str, dict[str, Any]] = {
    table.name: {"select": True, "insert": [each.name for each in table.columns if each.name != "at"]}
    for table in TABLES
}
GRANTS = _ADDED | {
    name: _ADDED[name] | {"delete": True} for name in ("action_cards", "action_decisions", "action_revocations")
}
"""Cards and what people said of them hold words, which their owner may have deleted; what was begun and how it ended holds none, and stays."""
SQL: list[str] = []
