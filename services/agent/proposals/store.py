"""Proposals of one owner, and whose a submission is, in agent_db."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, insert, select, update
from sqlalchemy.engine import RowMapping

from schemas.agent.v2 import ItemProposed
from schemas.bridge.v1 import ProposalMoved
from schemas.outward import Owner
from services.agent.proposals.tables import proposal_owners, proposed_items
from shared.db import Tx


async def add(tx: Tx, owner: Owner, conversation_id: UUID, proposal: ItemProposed, title: str) -> None:
    whose = {"owner_kind": owner.kind, "owner_id": owner.id, "submission_id": proposal.submission_id}
    what = {name: getattr(proposal, name) for name in ("item_id", "kind", "lang", "path")}
    row = whose | what | {"conversation_id": conversation_id, "title": title}
    await tx.execute(insert(proposed_items).values(row))
    await tx.execute(insert(proposal_owners).values(whose))


async def owner_of(tx: Tx, submission_id: UUID) -> Owner | None:
    row = await tx.row(select(proposal_owners).where(proposal_owners.c.submission_id == submission_id))
    return None if row is None else Owner(kind=row["owner_kind"], id=row["owner_id"])


async def held(tx: Tx, owner: Owner, submission_id: UUID) -> RowMapping | None:
    """Nobody else moves it until the transaction ends."""
    mine = proposed_items.c.submission_id == submission_id
    return await tx.row(select(proposed_items).where(_mine(owner), mine).with_for_update())


async def move(tx: Tx, owner: Owner, moved: ProposalMoved) -> None:
    news = {"state": moved.state, "revision": moved.revision, "reason": moved.reason, "moved_at": moved.at}
    mine = proposed_items.c.submission_id == moved.submission_id
    await tx.execute(update(proposed_items).where(_mine(owner), mine).values(news | {"version": moved.version}))


async def listed(tx: Tx, owner: Owner, limit: int) -> Sequence[RowMapping]:
    """The newest first."""
    found = select(proposed_items).where(_mine(owner)).order_by(proposed_items.c.proposed_at.desc())
    return await tx.rows(found.limit(limit))


async def forget(tx: Tx, owner: Owner) -> int:
    """How many. What was proposed stays with the lock: it is the workplace's."""
    whose = (proposal_owners.c.owner_kind == owner.kind) & (proposal_owners.c.owner_id == owner.id)
    await tx.execute(delete(proposal_owners).where(whose))
    return await tx.execute(delete(proposed_items).where(_mine(owner)))


def _mine(owner: Owner) -> ColumnElement[bool]:
    return and_(proposed_items.c.owner_kind == owner.kind, proposed_items.c.owner_id == owner.id)
