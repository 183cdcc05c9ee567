"""The connectors' schema as code: the tables of every part, and what the service may do with the protected ones."""

from typing import Any

from services.connectors.audit import tables as audit
from services.connectors.book import tables as book
from services.connectors.cards import tables as cards
from services.connectors.fingerprints import tables as fingerprints
from services.connectors.health import tables as health
from services.connectors.schema import app, core
from shared.db import delivery_tables

SUBJECTS = (audit, book, cards, fingerprints, health)

outbox, todo, sent, inbox, parked, schema_changes = delivery_tables(app)

CORE_GRANTS: dict[str, dict[str, Any]] = audit.GRANTS | book.GRANTS
CORE_SQL: list[str] = [*audit.SQL]

__all__ = ["CORE_GRANTS", "CORE_SQL", "app", "core"]
