"""The agent's settings in console_db."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.agency.tables import agent_setting_changes, agent_settings
from services.console.connectors.tables import connectors
from services.console.people.tables import people
from shared.db import Tx

_HELD = select(
    agent_settings,
    agent_setting_changes.c.by_name,
    agent_setting_changes.c.reason,
    agent_setting_changes.c.at.label("set_at"),
).outerjoin(agent_setting_changes, agent_setting_changes.c.statement_hash == agent_settings.c.statement_hash)


async def in_force(tx: Tx) -> Sequence[RowMapping]:
    """Those that were ever set, with who set them so."""
    return await tx.rows(_HELD.order_by(agent_settings.c.name, agent_settings.c.subject))


async def version_of(tx: Tx, name: str, subject: str) -> int:
    """The agent's count as known here; 0 when it was never set."""
    of = select(agent_settings.c.version).where(agent_settings.c.name == name, agent_settings.c.subject == subject)
    return int(await tx.value(of) or 0)


async def put(tx: Tx, row: dict[str, Any]) -> None:
    """What is in force; an older word changes nothing."""
    fresh = insert(agent_settings).values(row)
    changed = {name: fresh.excluded[name] for name in ("value", "statement_hash", "at", "version")}
    newer = agent_settings.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["name", "subject"], set_=changed, where=newer))


async def add_change(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(agent_setting_changes).values(row))


async def settle_change(tx: Tx, statement_hash: str, outcome: str, reason: str | None = None) -> bool:
    """Whether a change with that statement waited for an answer."""
    of = agent_setting_changes.c
    mine = (of.statement_hash == statement_hash) & (of.outcome == "sent")
    settled = update(agent_setting_changes).where(mine).values(outcome=outcome, outcome_reason=reason)
    return bool(await tx.execute(settled))


async def newest_change(tx: Tx, name: str, subject: str) -> RowMapping | None:
    of = select(agent_setting_changes).where(
        agent_setting_changes.c.name == name, agent_setting_changes.c.subject == subject
    )
    return await tx.row(of.order_by(agent_setting_changes.c.at.desc()).limit(1))


async def change(tx: Tx, statement_hash: str) -> RowMapping | None:
    found = select(agent_setting_changes).where(agent_setting_changes.c.statement_hash == statement_hash)
    return await tx.row(found)


async def changes(tx: Tx, limit: int) -> Sequence[RowMapping]:
    return await tx.rows(select(agent_setting_changes).order_by(agent_setting_changes.c.at.desc()).limit(limit))


async def names_of(tx: Tx, person_ids: Sequence[UUID]) -> dict[str, str]:
    """Names of people, by their ids."""
    found = await tx.rows(select(people.c.id, people.c.name).where(people.c.id.in_(person_ids)))
    return {str(row["id"]): row["name"] for row in found}


async def kind_of(tx: Tx, connector: str) -> str | None:
    """Of a connector in force."""
    found: str | None = await tx.value(select(connectors.c.kind).where(connectors.c.name == connector))
    return found


async def people_named(tx: Tx) -> Sequence[RowMapping]:
    """id, name and handle of everybody, by name."""
    return await tx.rows(select(people.c.id, people.c.name, people.c.handle).order_by(people.c.name, people.c.id))


async def llm_connectors(tx: Tx) -> Sequence[str]:
    """Names of connectors that reach models."""
    found = select(connectors.c.name).where(connectors.c.kind == "llm").order_by(connectors.c.name)
    return [row["name"] for row in await tx.rows(found)]
