"""Proposals to the console of one owner, and the apps that are known, in agent_db."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, insert, select, update
from sqlalchemy.dialects.postgresql import insert as put
from sqlalchemy.engine import RowMapping

from schemas.agent.v1 import Wish
from schemas.console.v1 import AppStated, ProposalAnswered
from schemas.outward import Owner
from schemas.text import canonical
from services.agent.drafting.tables import drafts, known_apps
from shared.db import Tx

_ANSWER = ("state", "reason", "rows", "bytes", "undated", "understood", "version")


async def add(tx: Tx, wish: Wish, about: str, title: str, place: str, body: dict[str, Any]) -> None:
    whose = {"owner_kind": wish.owner.kind, "owner_id": wish.owner.id}
    what = {"about": about, "title": title, "place": place, "body": canonical(body).decode()}
    row = whose | what | {"proposal_id": wish.proposal_id, "conversation_id": wish.conversation_id}
    await tx.execute(insert(drafts).values(row))


async def held(tx: Tx, owner: Owner, proposal_id: UUID) -> RowMapping | None:
    """Nobody else moves it until the transaction ends."""
    return await tx.row(select(drafts).where(_mine(owner), drafts.c.proposal_id == proposal_id).with_for_update())


async def move(tx: Tx, answered: ProposalAnswered) -> None:
    news: dict[str, Any] = {name: getattr(answered, name) for name in _ANSWER}
    news |= {"next": json.dumps([each.isoformat() for each in answered.next]), "moved_at": answered.at}
    mine = and_(_mine(answered.owner), drafts.c.proposal_id == answered.proposal_id)
    await tx.execute(update(drafts).where(mine).values(news))


async def listed(tx: Tx, owner: Owner, limit: int, about: str = "") -> Sequence[RowMapping]:
    """The newest first; `about`: only those."""
    found = select(drafts).where(_mine(owner))
    if about:
        found = found.where(drafts.c.about == about)
    return await tx.rows(found.order_by(drafts.c.proposed_at.desc()).limit(limit))


async def put_app(tx: Tx, stated: AppStated) -> None:
    """The console's newest word about an app, in whichever order they come."""
    told = stated.declaration if stated.shared else None
    declared = None if told is None else canonical(told.model_dump(mode="json")).decode()
    fresh = put(known_apps).values(slug=stated.slug, declaration=declared, at=stated.at, version=stated.version)
    changed = {name: fresh.excluded[name] for name in ("declaration", "at", "version")}
    newer = known_apps.c.version < fresh.excluded.version
    await tx.execute(fresh.on_conflict_do_update(index_elements=["slug"], set_=changed, where=newer))


async def apps(tx: Tx) -> list[str]:
    """Declarations (JSON) of the apps that may be known, by slug."""
    known = select(known_apps.c.declaration).where(known_apps.c.declaration.is_not(None))
    return [row["declaration"] for row in await tx.rows(known.order_by(known_apps.c.slug))]


def _mine(owner: Owner) -> ColumnElement[bool]:
    return and_(drafts.c.owner_kind == owner.kind, drafts.c.owner_id == owner.id)
