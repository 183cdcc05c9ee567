"""How it stands with a proposal: kept here, and the agent is told."""

from uuid import UUID

from schemas.console.v1 import ProposalAnswered
from schemas.outward import Owner
from services.console.notices import store as notices
from services.console.people.domain import Caller
from services.console.proposals import store
from services.console.proposals.domain import NO_FIGURES, Figures, State
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def answer_proposal(
    tx: Tx, proposal_id: UUID, state: State, *, reason: str = "", figures: Figures = NO_FIGURES, by: Caller | None = None
) -> None:  # fmt: skip
    """`by`: who decided. NotFound when there is no such proposal."""
    row, at = await store.one(tx, proposal_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such proposal.")
    version = await store.move(tx, proposal_id, state, reason, at, (by.name, by.id) if by else None)
    if state != "waiting":
        await notices.settle(tx, "card", f"/proposals/{proposal_id}", at)
    data = ProposalAnswered(
        proposal_id=proposal_id,
        owner=Owner(kind=row["owner_kind"], id=row["owner_id"]),
        about=row["about"],
        state=state,
        reason=reason,
        rows=figures.rows,
        bytes=figures.bytes,
        undated=figures.undated,
        understood=figures.understood,
        next=figures.next,
        at=at,
        version=version,
    )
    actor = by.name if by is not None else None
    tx.stage("proposal.answered", data, key=f"proposal:{proposal_id}", version=version, actor=actor)
