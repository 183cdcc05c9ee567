"""A person's signed decision arrives: verify it, apply it to exactly the revision it names, and publish on approval."""

from datetime import datetime

from schemas.console.v1 import ItemDecided
from schemas.content import ItemContent
from schemas.statements import Decision
from services.bridge import store
from services.bridge.attachments.usecases.publish_attachments import publish_attachments
from services.bridge.domain import Item, Refusal, decide
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import is_new_time, judge_decision, judge_opening
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import add_decision, person, tell_moves
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
from shared.clock import now
from shared.db import Tx


async def decide_item(tx: Tx, event: Received[ItemDecided], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: decision, state, gate entry and what the site gets, or a refusal that changes nothing. `recheck_item` prepared it."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    found = await store.present(tx, data.item_id)
    decision = keys.verify(data.statement, Decision, found.rules.keys)
    at = now()
    refusal = _judge(event, decision, found, at) or await _judge_comment(tx, decision, found)
    if refusal is not None or isinstance(decision, Refusal):
        assert refusal is not None
        await refuse_decision(step, refusal, data.statement, data.item_id, found.item)
        return
    assert found.item is not None and found.revision is not None
    replaced = await _replaced(tx, decision, found.item)
    item, moves = decide(found.item, decision, data.statement.hash, at)
    prior, number = decision.prior_version, decision.revision
    add_decision(step, data.statement, data.opening, item.item_id, number, decision.verdict, prior, replaced)
    seq = None
    if item.published == decision.revision:
        sealed = gate.entry(
            found.rules.head, "publication", data.statement, at, item.item_id, decision.revision, decision.content_hash
        )
        await publish_attachments(step, sealed, decision.attachments)
        append_entry(step, sealed, found.revision.content, data.opening.person_id)
        seq = sealed.seq
    await tell_moves(
        step, item, moves, by=person(data.opening), reason=data.opening.reason, at=at, signed=data.statement, seq=seq
    )
    step.writes.save(item, found.revision)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


async def _judge_comment(tx: Tx, decision: Decision | Refusal, found: store.Present) -> Refusal | None:
    """A comment becomes public with its page alone: what was withdrawn meanwhile takes no more words."""
    if isinstance(decision, Refusal) or found.revision is None or (decision.kind, decision.verdict) != ("comment", "approve"):  # fmt: skip
        return None
    about = ItemContent.from_bytes(found.revision.content).about
    if about is not None and await store.published_to(tx, about) == decision.audience:
        return None
    return Refusal("invalid", "the page that it is about is not public for the same readers now")


async def _replaced(tx: Tx, decision: Decision, item: Item) -> str | None:
    """The approval whose place this one takes: of a revision that waits for its time."""
    if not is_new_time(decision, item):
        return None
    before: str = (await store.approval(tx, item.item_id, decision.revision))["statement_hash"]
    return before


def _judge(
    event: Received[ItemDecided], decision: Decision | Refusal, found: store.Present, at: datetime
) -> Refusal | None:
    if isinstance(decision, Refusal):
        return decision
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot decide; a person decides in the console")
    if decision.item_id != event.data.item_id:
        return Refusal("invalid", "the signed statement is about another item")
    opening, fault = event.data.opening, event.prepared
    assert isinstance(fault, str), "nothing is approved that was not looked at"
    return (
        judge_opening(decision.decider, opening)
        or judge_decision(decision, opening, found.item, found.revision, found.rules.switches, at)
        or (Refusal("blocked", fault) if fault else None)
    )
