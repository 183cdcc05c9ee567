"""The lock tells what became of a proposal. It can only be told: nothing that arrives here publishes anything (rule 20)."""

from schemas.bridge.v1 import ProposalMoved
from services.agent.proposals import store
from shared.db import Tx


async def keep_move(tx: Tx, moved: ProposalMoved) -> None:
    """Of a proposal that is somebody's; the newest word counts, in whichever order they come."""
    owner = await store.owner_of(tx, moved.submission_id)
    if owner is None:
        return  # the operator's own, or its owner's things were deleted
    async with tx.acting_for(owner):
        await store.move(tx, owner, moved)
