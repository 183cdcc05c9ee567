"""A person's signed withdrawal arrives: take back what is public, and what waits for its time. Works while frozen."""

from schemas.console.v1 import ItemWithdrawn
from schemas.statements import Withdrawal
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import judge_opening, judge_withdrawal
from services.bridge.usecases.record_change import enter_withdrawal
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
from shared.db import Tx


async def withdraw_item(tx: Tx, event: Received[ItemWithdrawn], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: the withdrawal's row, the state, the gate entry and the retraction to the site."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    found = await store.present(tx, data.item_id)
    withdrawal = keys.verify(data.statement, Withdrawal, found.rules.keys)
    refusal = _judge(event, withdrawal, found)
    if refusal is not None or isinstance(withdrawal, Refusal):
        assert refusal is not None
        await refuse_decision(step, refusal, data.statement, data.item_id, found.item)
        return
    await enter_withdrawal(step, data.statement, data.opening, withdrawal.prior_version, found, gate)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


def _judge(event: Received[ItemWithdrawn], withdrawal: Withdrawal | Refusal, found: store.Present) -> Refusal | None:
    if isinstance(withdrawal, Refusal):
        return withdrawal
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot withdraw; a person does in the console")
    if withdrawal.item_id != event.data.item_id:
        return Refusal("invalid", "the signed statement is about another item")
    return judge_opening(withdrawal.decider, event.data.opening) or judge_withdrawal(
        withdrawal.prior_version, found.item
    )
