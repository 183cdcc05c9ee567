"""The agent is told what became of what it proposed: states and people's reasons, never what the lock found (S14).

A revision that the lock blocked is told as handed in, like any other: were it told apart, the agent could ask the lock, one guess after the
other, whether a text holds one of our secrets. A person who sees it in the queue may tell. Its versions count as if it waited.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from schemas.bridge.v1 import ProposalMoved
from schemas.model import ItemState
from services.bridge import views
from services.bridge.domain import Item, Move
from services.bridge.usecases.inspect_item import Submission
from services.bridge.usecases.record_crossings import Step
from services.bridge.views import Proposed


async def tell_proposer(step: Step, item: Item, moves: Sequence[Move], *, reason: str, at: datetime) -> None:
    """One `proposal.moved` for each move of a revision that came from the agent."""
    if not item.proposed or not moves:
        return
    found = await views.proposed(step.tx, item.item_id, [move.revision for move in moves])
    for move in moves:
        of = found.get(move.revision)
        if of is not None:
            meant = reason if move.state != "superseded" else ""
            _tell(step, of, move.state, meant, at, move.version + of.hidden)


async def tell_replaced(step: Step, held: Item, at: datetime) -> None:
    """A newer text takes the place of the newest one: of one that the lock had blocked, too, which made no move."""
    if not held.proposed:
        return
    for of in (await views.proposed(step.tx, held.item_id, [held.revision])).values():
        if of.blocked:
            _tell(step, of, "superseded", "", at, held.version + 1 + of.hidden)


async def tell_handed_in(step: Step, item: Item, data: Submission, at: datetime) -> None:
    """A new revision of the agent's own waits for a person."""
    hidden = await views.count_blocked(step.tx, item.item_id, item.revision) if item.revision > 1 else 0
    what = (data.submission_id, data.kind, data.lang, data.path)
    of = Proposed(item.item_id, item.revision, *what, blocked=False, hidden=hidden)
    _tell(step, of, "submitted", "", at, item.version + hidden)


def tell_answered(
    step: Step, data: Submission, state: Literal["refused", "unchanged"], revision: int, at: datetime, reason: str = ""
) -> None:
    """What never became a revision: `refused`, since it cannot be an item, or `unchanged`, since the newest revision says just that."""
    assert step.cause is not None
    fact = ProposalMoved(
        item_id=data.item_id, submission_id=data.submission_id, kind=data.kind, lang=data.lang, path=data.path,
        state=state, revision=revision, reason=reason, at=at, version=1,
    )  # fmt: skip
    key = f"proposal:{state}:{step.cause.event_id}"
    step.tell("proposal.moved", fact, key=key, version=1, to="agent", about=f"proposal:{data.item_id}")


def _tell(step: Step, of: Proposed, state: ItemState, reason: str, at: datetime, version: int) -> None:
    fact = ProposalMoved(
        item_id=of.item_id, submission_id=of.submission_id, kind=of.kind, lang=of.lang, path=of.path,
        state=state, revision=of.revision, reason=reason, at=at, version=version,
    )  # fmt: skip
    step.tell("proposal.moved", fact, key=f"proposal:{of.item_id}", version=version, to="agent")
