"""The agent's schema as code: what each part declares, put together. `core` belongs to agent_owner; what is somebody's is divided by owner."""

from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, Table, Text, Uuid

from services.agent.actions import tables as actions
from services.agent.automations import tables as automations
from services.agent.conversations import tables as conversations
from services.agent.downloads import tables as downloads
from services.agent.drafting import tables as drafting
from services.agent.habits import tables as habits
from services.agent.lessons import tables as lessons
from services.agent.mail import tables as mail
from services.agent.memory import tables as memory
from services.agent.notifications import tables as notifications
from services.agent.owners import tables as owners
from services.agent.proposals import tables as proposing
from services.agent.schema import app, core
from services.agent.sharing import tables as sharing
from services.agent.spend import tables as spend
from services.agent.tasks import tables as tasks
from shared.db import Protection, delivery_tables
from shared.identity.tables import identity_tables

__all__ = ["CORE_GRANTS", "CORE_OWNED", "CORE_SQL", "PROTECTION", "app", "core"]

PARTS: tuple[Any, ...] = (
    actions,
    automations,
    conversations,
    downloads,
    drafting,
    habits,
    lessons,
    mail,
    memory,
    notifications,
    owners,
    proposing,
    sharing,
    spend,
    tasks,
)
"""Each declares GRANTS, OWNED and SQL of its tables in `core`."""
CORE_GRANTS: dict[str, dict[str, Any]] = {name: held for part in PARTS for name, held in part.GRANTS.items()}
CORE_SQL: list[str] = [statement for part in PARTS for statement in part.SQL]
CORE_OWNED: frozenset[str] = frozenset(name for part in PARTS for name in part.OWNED)
PROTECTION = Protection(CORE_GRANTS, CORE_OWNED)

outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)
standings, identity_sessions, ended_sign_ins, used_tokens, sign_in_codes = identity_tables(app)

proposals = Table(
    "proposals",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("version", BigInteger, nullable=False),
)
"""How often the agent has proposed an item: the order of its proposals."""

cards = Table(
    "cards",
    app,
    Column("card_id", Uuid, primary_key=True),
    Column("state", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)
"""What became of the cards that the agent asked for: allowed, refused, revoked or expired. Nothing here opens anything: the connectors decide by the signed word."""
