"""What lists and pages show of secrets."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.engine import RowMapping

from services.console.secrets.tables import secret_changes, secret_uses, secrets
from shared.db import Tx

CHANGES_SHOWN = 100


def _listed() -> Select[tuple[object, ...]]:
    used = select(func.max(secret_uses.c.at)).where(secret_uses.c.place == secrets.c.place).scalar_subquery()
    coming = (
        select(func.count())
        .where(secret_changes.c.place == secrets.c.place, secret_changes.c.outcome == "sent")
        .scalar_subquery()
    )
    newest = secret_changes.alias("newest")
    return select(
        secrets,
        used.label("used_at"),
        coming.label("coming"),
        newest.c.by_name.label("by_name"),
        newest.c.reason.label("reason"),
    ).outerjoin(newest, newest.c.statement_hash == secrets.c.statement_hash)


async def every(tx: Tx) -> list[dict[str, Any]]:
    """All secrets, those in use first, by surface, connector, owner and name, with used_at, coming (changes on their way), by_name and reason."""
    order = (secrets.c.state, secrets.c.surface, secrets.c.connector, secrets.c.owner, secrets.c.name)
    return [dict(row) for row in await tx.rows(_listed().order_by(*order))]


async def not_in_force(tx: Tx, since: datetime) -> list[dict[str, Any]]:
    """New secrets that are on their way, or were refused since then, and are not there."""
    there = select(secrets.c.place).where(secrets.c.place == secret_changes.c.place).exists()
    lately = (secret_changes.c.outcome == "sent") | (secret_changes.c.at > since)
    wanted = select(secret_changes).where(lately, secret_changes.c.outcome != "applied", ~there)
    return [dict(row) for row in await tx.rows(wanted.order_by(secret_changes.c.at.desc()).limit(CHANGES_SHOWN))]


async def one(tx: Tx, place: str) -> dict[str, Any] | None:
    row = await tx.row(_listed().where(secrets.c.place == place))
    return None if row is None else dict(row)


async def uses(tx: Tx, place: str) -> dict[int, RowMapping]:
    """When each version was last used."""
    rows = await tx.rows(select(secret_uses).where(secret_uses.c.place == place))
    return {row["version"]: row for row in rows}


async def changes(tx: Tx, place: str) -> list[dict[str, Any]]:
    """Newest first."""
    mine = select(secret_changes).where(secret_changes.c.place == place)
    return [dict(row) for row in await tx.rows(mine.order_by(secret_changes.c.at.desc()).limit(CHANGES_SHOWN))]
