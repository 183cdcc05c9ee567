"""A person's signed word about a share link arrives: an entry of the gate's log, so that no restored backup opens it again (rule 29)."""

from schemas.console.v1 import LinkChanged
from schemas.statements import LinkChange
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import judge_link, judge_opening
from services.bridge.usecases.record_change import enter_link
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.refuse_decision import refuse_undo
from shared.bus import Received
from shared.clock import now
from shared.db import Tx


async def change_link(tx: Tx, event: Received[LinkChanged], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: the change's row, the gate entry, what the site gets, and `link.applied`; or a refusal. Closing works while frozen."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    rules = await store.rules(tx)
    change = keys.verify(data.statement, LinkChange, rules.keys)
    refusal = change if isinstance(change, Refusal) else await _judge(tx, event, change, rules)
    if refusal is not None or isinstance(change, Refusal):
        assert refusal is not None
        await refuse_undo(step, refusal, data.statement)  # in its own words, and about no item: none of it has moved
        return
    enter_link(step, data.statement, data.opening, change, rules, gate)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


async def _judge(tx: Tx, event: Received[LinkChanged], change: LinkChange, rules: store.Rules) -> Refusal | None:
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot change share links; a person does in the console")
    if change.item_id != event.data.item_id:
        return Refusal("invalid", "the signed statement is about another item")
    link, audience = await store.link(tx, change.link_id), await store.published_to(tx, change.item_id)
    return judge_opening(change.decider, event.data.opening) or judge_link(
        change, link, audience, rules.switches, now()
    )
