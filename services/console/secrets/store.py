"""Secrets in console_db."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.people.tables import people
from services.console.secrets.tables import secret_changes, secret_uses, secrets
from shared.db import Tx


async def held(tx: Tx, place: str) -> dict[str, Any] | None:
    row = await tx.row(select(secrets).where(secrets.c.place == place))
    return None if row is None else dict(row)


async def put(tx: Tx, row: dict[str, Any]) -> None:
    """What the connectors say, unless a newer word of theirs is here."""
    fresh = insert(secrets).values(row)
    changed = {name: fresh.excluded[name] for name in row if name != "place"}
    newer = secrets.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["place"], set_=changed, where=newer))


async def add_change(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(secret_changes).values(row))


async def settle_change(tx: Tx, statement_hash: str, outcome: str, reason: str | None = None) -> int:
    """How many changes it was about."""
    mine = (secret_changes.c.statement_hash == statement_hash) & (secret_changes.c.outcome == "sent")
    return await tx.execute(update(secret_changes).where(mine).values(outcome=outcome, outcome_reason=reason))


async def outcome(tx: Tx, statement_hash: str) -> tuple[str, str]:
    """sent, applied or refused; and why."""
    row = await tx.row(select(secret_changes).where(secret_changes.c.statement_hash == statement_hash))
    return ("sent", "") if row is None else (row["outcome"], row["outcome_reason"] or "")


async def used(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    fresh = insert(secret_uses).values(list(rows))
    newest = func.greatest(secret_uses.c.at, fresh.excluded.at)
    await tx.execute(fresh.on_conflict_do_update(index_elements=["place", "version"], set_={"at": newest}))


async def running_out(tx: Tx, before: datetime) -> Sequence[RowMapping]:
    """Secrets in use whose time is over before then."""
    active = (secrets.c.state == "active") & (secrets.c.expires_at < before)
    return await tx.rows(select(secrets.c.place, secrets.c.expires_at, secrets.c.warned).where(active))


async def mark_warned(tx: Tx, place: str, stage: str) -> bool:
    """False when another instance was quicker."""
    new = (secrets.c.place == place) & (secrets.c.warned.is_distinct_from(stage))
    return bool(await tx.execute(update(secrets).where(new).values(warned=stage)))


async def deciders(tx: Tx) -> list[str]:
    """Owners and admins who may sign in."""
    able = people.c.role.in_(["owner", "admin"]) & people.c.disabled.is_(False)
    return [str(row["id"]) for row in await tx.rows(select(people.c.id).where(able))]
