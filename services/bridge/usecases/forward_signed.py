"""A person's signed word passes to the one who acts on it: a connector's setting, a secret, a card's decision, a setting of the agent (S5). Verified here, and there once more."""

from typing import Any

from schemas.agency import ActionDecision, AgentSetting
from schemas.catalogue import BY_NAME
from schemas.console.v1 import SecretSealed
from schemas.outward import CardDecision, ConnectorSetting, SecretChange
from schemas.text import sha256
from services.bridge import store
from services.bridge.domain import Refusal
from services.bridge.gate import DecisionKeys
from services.bridge.judging import judge_opening
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.refuse_decision import refuse_decision
from shared.bus import Received
from shared.db import Tx

Decided = ConnectorSetting | SecretChange | CardDecision | AgentSetting | ActionDecision
_KINDS: dict[str, type[Decided]] = {
    "connector.declared": ConnectorSetting,
    "secret.sealed": SecretChange,
    "card.decided": CardDecision,
    "setting.decided": AgentSetting,
    "action.decided": ActionDecision,
}


async def forward_signed(tx: Tx, event: Received[Any], keys: DecisionKeys) -> None:
    """The same bytes go on to their readers, or `decision.refused` says why not. Under the gate's lock: a key that is revoked meanwhile lets nothing pass."""
    step, data = Step(tx, event), event.data
    await store.lock_gate(tx)
    rules = await store.rules(tx)
    statement: Decided | Refusal = keys.verify(data.statement, _KINDS[event.name], rules.keys)
    refusal = statement if isinstance(statement, Refusal) else _judge(event, statement)
    if refusal is not None:
        await refuse_decision(step, refusal, data.statement)
        return
    for reader in BY_NAME[event.name].readers:
        step.forward(reader, decided_by=data.opening.person_id, signature=data.statement.signature)
    await step.done()


def _judge(event: Received[Any], statement: Decided) -> Refusal | None:
    if event.sender != "console":
        return Refusal("invalid", f"{event.sender} cannot decide; a person decides in the console")
    return judge_opening(statement.decider, event.data.opening) or _judge_content(event.data, statement)


def _judge_content(data: Any, statement: Decided) -> Refusal | None:
    """The event says nothing that was not signed."""
    if isinstance(statement, CardDecision | ActionDecision) and data.card_id != statement.card_id:
        return Refusal("invalid", "the signed statement is about another card")
    if isinstance(data, SecretSealed) and isinstance(statement, SecretChange):
        found = None if data.sealed is None else sha256(data.sealed)
        if found != statement.sealed_hash:
            return Refusal("invalid", "the sealed value is not the one that was signed for")
    return None
