"""A person's signed switch setting arrives: put it in force at the lock, and tell the site its mode."""

from schemas.console.v1 import SwitchSet
from schemas.statements import SwitchSetting
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.judging import judge_opening, judge_setting
from services.bridge.usecases.record_change import enter_setting
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
from shared.db import Tx


async def set_switch(tx: Tx, event: Received[SwitchSet], keys: DecisionKeys, gate: Gate) -> None:
    """One transaction: the setting's row, `switch.applied`, and for the site's mode an entry in the gate's log."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    rules = await store.rules(tx)
    setting = keys.verify(data.statement, SwitchSetting, rules.keys)
    refusal = setting if isinstance(setting, Refusal) else await _judge(tx, event, setting)
    if refusal is not None or isinstance(setting, Refusal):
        assert refusal is not None
        await refuse_decision(step, refusal, data.statement)
        return
    enter_setting(step, data.statement, data.opening, setting, setting.prior_version + 1, rules, gate)
    await step.done(decided_by=data.opening.person_id, signature=data.statement.signature)


async def _judge(tx: Tx, event: Received[SwitchSet], setting: SwitchSetting) -> Refusal | None:
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot set a switch; a person does in the console")
    version = await store.switch_version(tx, setting.name)
    return judge_opening(setting.decider, event.data.opening) or judge_setting(setting, version)
