"""A person's signed undo arrives, within ten minutes of the verdict: the revision waits again. Works while frozen.

An undone approval of what is public is a withdrawal: the entry in the gate's log has the Undo as its statement.
"""

from schemas.console.v1 import ItemUndone
from schemas.statements import Undo
from services.bridge import store
from services.bridge.domain import Refusal, undo
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import Given, judge_opening, judge_undo
from services.bridge.usecases.append_entry import append_entry
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import add_decision, person, tell_moves
from services.bridge.usecases.refuse_decision import refuse_undo
from shared.bus import Received
from shared.clock import now
from shared.db import Tx


async def undo_decision(tx: Tx, event: Received[ItemUndone], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: the undo's row, the state, and for what was public the gate entry and the retraction to the site."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    found = await store.present(tx, data.item_id)
    statement = keys.verify(data.statement, Undo, found.rules.keys)
    given = await store.given(tx, statement.undoes) if isinstance(statement, Undo) else None
    refusal = _judge(event, statement, given, found)
    if refusal is not None or isinstance(statement, Refusal):
        assert refusal is not None
        await refuse_undo(step, refusal, data.statement, data.item_id, found.item)
        return
    assert found.item is not None and found.revision is not None
    at, public, seq = now(), found.item.published == statement.revision, None
    item, moves = undo(found.item)
    prior, undoes = statement.prior_version, statement.undoes
    add_decision(step, data.statement, data.opening, item.item_id, statement.revision, "undo", prior, undoes)
    if public:
        sealed = gate.entry(found.rules.head, "withdrawal", data.statement, at, item.item_id, statement.revision)
        append_entry(step, sealed, None, data.opening.person_id)
        seq = sealed.seq
    who, why = person(data.opening), data.opening.reason
    await tell_moves(step, item, moves, by=who, reason=why, at=at, signed=data.statement, seq=seq)
    step.writes.save(item, found.revision)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


def _judge(
    event: Received[ItemUndone], statement: Undo | Refusal, given: Given | None, found: store.Present
) -> Refusal | None:
    if isinstance(statement, Refusal):
        return statement
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot undo a decision; a person does in the console")
    if statement.item_id != event.data.item_id:
        return Refusal("invalid", "the signed statement is about another item")
    return judge_opening(statement.decider, event.data.opening) or judge_undo(statement, given, found.item)
