"""Claims, as columns of app.items."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, cast, or_, select, update
from sqlalchemy.engine import RowMapping

from services.console.people.tables import sessions
from services.console.queue.tables import items
from shared.db import Tx

_NOBODY: dict[str, Any] = {"claimed_by": None, "claimed_name": None, "claimed_until": None, "claimed_tab": None}


@dataclass(frozen=True)
class Claim:
    """`tab` names the open page that renews it; empty for a page without a script."""

    person_id: str
    name: str
    at: datetime
    until: datetime
    tab: str = ""


async def claim(tx: Tx, item_id: UUID, wanted: Claim, *, over: bool = False) -> RowMapping | None:
    """Take or renew the lease; the item, or None when somebody else holds it and it is not taken `over`.

    The person's other claims are given up, but not those that an open page renews: those end with their page.
    """
    waits = (items.c.item_id == item_id) & (items.c.state == "submitted") & items.c.deciding.is_(None)
    free = or_(
        items.c.claimed_until.is_(None), items.c.claimed_until <= wanted.at, items.c.claimed_by == wanted.person_id
    )
    taken = update(items).where(waits) if over else update(items).where(waits, free)
    values = {"claimed_by": wanted.person_id, "claimed_name": wanted.name, "claimed_until": wanted.until}
    if wanted.tab:
        values["claimed_tab"] = wanted.tab
    left = (items.c.claimed_by == wanted.person_id) & (items.c.item_id != item_id) & items.c.claimed_tab.is_(None)
    await tx.execute(update(items).where(left).values(_NOBODY))
    return await tx.row(taken.values(**values).returning(items.c.item_id, items.c.claimed_until))


async def holder(tx: Tx, item_id: UUID) -> RowMapping | None:
    """Who has it open now, by the row; the row is locked."""
    found = select(items.c.claimed_by, items.c.claimed_name, items.c.claimed_until).where(items.c.item_id == item_id)
    return await tx.row(found.with_for_update())


async def release(tx: Tx, item_id: UUID, person_id: str, tab: str = "") -> bool:
    """Give the claim up; with `tab` only if no other page of the person has renewed it since."""
    mine = (items.c.item_id == item_id) & (items.c.claimed_by == person_id)
    if tab:
        mine &= items.c.claimed_tab == tab
    return bool(await tx.execute(update(items).where(mine).values(_NOBODY)))


async def release_all(tx: Tx, token_hash: str) -> None:
    """The person of a session leaves: everything that they have open is free again."""
    person = select(sessions.c.person_id).where(sessions.c.token_hash == token_hash).scalar_subquery()
    await tx.execute(update(items).where(items.c.claimed_by == cast(person, Text)).values(_NOBODY))


async def release_of(tx: Tx, person_id: UUID) -> None:
    """Everything that a person has open is free again."""
    await tx.execute(update(items).where(items.c.claimed_by == str(person_id)).values(_NOBODY))
