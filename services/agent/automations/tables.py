"""Automations beside their tasks: for which the agent may act, and what the console was told of them. No word of what they do: the card has that, and the task."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, LargeBinary, Table, Text, Uuid, text

from services.agent.schema import app, core, line, owned, when, written

automation_delegations = Table(
    "automation_delegations",
    core,
    *owned(),
    Column("card_id", Uuid, primary_key=True),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    when("issued_at", nullable=False),
    when("expires_at", nullable=False),
)
"""The newest Delegation for each card, apart from the owner's own. The times are for statements; what counts is what was signed."""

automation_places = Table(
    "automation_places",
    app,
    Column("card_id", Uuid, primary_key=True),
    line("owner_kind"),
    line("owner_id"),
    Column("version", BigInteger, nullable=False, server_default="0"),
    line("state", server_default=text("''")),
    line("reason", server_default=text("''")),
    when("next_at"),
    Column("task_id", Uuid),
    Column("instruction_hash", Text),
    written("made_at"),
    when("looked_at"),
    CheckConstraint("state IN ('', 'active', 'paused', 'ended')", name="automation_places_state"),
    Index("automation_places_open", "made_at", postgresql_where=text("state <> 'ended'")),
)
"""Whose an automation is, and what the console was last told of it. `looked_at`: it was paused after a restore, as what people took back since the backup is not known. Nothing here lets anything run: that takes a signed decision beside the card."""

TABLES = (automation_delegations,)
OWNED = frozenset({"automation_delegations"})
GRANTS: dict[str, dict[str, Any]] = {
    "automation_delegations": {
        "select": True,
        "insert": True,
        "update": ["statement", "signature", "key_id", "issued_at", "expires_at"],
        "delete": True,
    }
}
SQL: list[str] = []
