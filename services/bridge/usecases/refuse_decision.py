"""Say no to a decision, withdrawal, switch or key change: nothing is changed, and the console learns why."""

from uuid import UUID

from schemas.bridge.v1 import DecisionRefused
from schemas.statements import Signed
from services.bridge import store
from services.bridge.domain import Item, Refusal
from services.bridge.usecases.record_crossings import Step
from shared.clock import now

_WORDS = {
    "approve": "approved",
    "reject": "rejected",
    "request_changes": "asked for changes to",
    "withdraw": "withdrew",
    "undo": "undid the decision on",
}


async def refuse_decision(
    step: Step, refusal: Refusal, signed: Signed, item_id: UUID | None = None, item: Item | None = None
) -> None:
    """Answer with the refusal's code and the present state and version; a conflict names who decided."""
    if refusal.code == "conflict" and item is not None:
        refusal = Refusal("conflict", await _who_decided(step, item) or refusal.reason)
    await refuse_undo(step, refusal, signed, item_id, item)


async def refuse_undo(
    step: Step, refusal: Refusal, signed: Signed, item_id: UUID | None = None, item: Item | None = None
) -> None:
    """As above, in the refusal's own words: it was not somebody else's verdict that was in the way."""
    assert step.cause is not None
    answer = DecisionRefused(
        item_id=item_id,
        statement_hash=signed.hash,
        code=refusal.code,
        reason=refusal.reason[:500],
        state=item.state if item else None,
        version=item.version if item else None,
        at=now(),
    )
    event_id = step.cause.event_id
    step.tell("decision.refused", answer, key=f"refused:{event_id}", version=1, about=str(item_id or event_id))
    await step.done("refused", reason=f"{refusal.code}: {refusal.reason}", signature=signed.signature)


async def _who_decided(step: Step, item: Item) -> str | None:
    last = await store.last_decision(step.tx, item.item_id)
    if last is None or last["revision"] != item.revision:
        return None
    return (
        f"{last['person_name']} {_WORDS[last['verdict']]} this revision at {last['at']:%H:%M} UTC. Nothing was changed."
    )
