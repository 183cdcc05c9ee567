"""Decisions on cards and settings of connectors that nobody made, for area cards."""

import asyncio
from uuid import UUID, uuid5

from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.check import Book
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from schemas.console.v1 import CardDecided, ConnectorDeclared
from schemas.outward import CardDecision, ConnectorSetting
from schemas.statements import Decision, Opening, Signed
from shared.clock import now
from shared.settings import DATABASES

_ANSWER = """SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,code}' FROM app.outbox
  WHERE name = 'change.refused' AND convert_from(body, 'UTF8')::jsonb #>> '{data,statement_hash}' = $1"""


def card_of(forger: Forger) -> UUID:
    """A card that there is not."""
    return uuid5(UUID(int=0), f"card {forger.token}")


async def forged(target: Target, forger: Forger) -> list[Forged]:
    """Signed by whom they must not be, for what they must not be, or saying something else than was signed."""
    allow, setting = _decision(forger, forger.opening), _setting(forger)
    agents = forger.opening.model_copy(update={"via": "agent"})
    wanted = [
        ("decision", CardDecision.PURPOSE, allow.to_bytes()),
        ("decision", Decision.PURPOSE, allow.to_bytes()),
        ("decision", CardDecision.PURPOSE, _decision(forger, agents).to_bytes()),
        ("decision", ConnectorSetting.PURPOSE, setting.to_bytes()),
        ("identity", CardDecision.PURPOSE, allow.to_bytes()),
    ]
    real, crossed, by_agent, declared, identity = await sign(target, "console", wanted)
    real_name = {"key_id": forger.key_id}
    refused = allow.to_bytes().replace(b'"verdict":"allow"', b'"verdict":"refuse"')
    somebody = forger.opening.model_copy(update={"person_name": "somebody else"})
    other = CardDecided(card_id=uuid5(UUID(int=1), forger.token), statement=real, opening=forger.opening)
    off = setting.to_bytes().replace(b'"enabled":true', b'"enabled":false')
    return [
        _card(forger, "not signed", real.model_copy(update={"signature": b""}), SIGNATURE),
        _card(forger, "signed by a stranger", forger.by_stranger(allow), SIGNATURE),
        _card(forger, "signed by a stranger in the real key's name", forger.by_stranger(allow, forger.key_id), SIGNATURE),
        _card(forger, "signed by the identity's key in the real key's name", identity.model_copy(update=real_name), SIGNATURE),
        _card(forger, "signed for another purpose", crossed, SIGNATURE),
        _card(forger, "turned round after signing", real.model_copy(update={"payload": refused}), SIGNATURE),
        _card(forger, "well signed, another person than signed for", real, SIGNATURE, somebody),
        _card(forger, "well signed, by way of an agent", by_agent, "invalid", agents),
        Forged("well signed, about another card than the event", forger.event("card.decided", other, MARK), "invalid", "card.decided"),
        _connector(forger, "not signed", declared.model_copy(update={"signature": b""})),
        _connector(forger, "signed by a stranger", forger.by_stranger(setting)),
        _connector(forger, "switched after signing", declared.model_copy(update={"payload": off})),
        _connector(forger, "a decision on a card", real),
    ]  # fmt: skip


async def nowhere(target: Target, book: Book, forger: Forger, seconds: float) -> None:
    """Well signed, about a card that there is not: whether the connectors say no."""
    (real,) = await sign(
        target, "console", [("decision", CardDecision.PURPOSE, _decision(forger, forger.opening).to_bytes())]
    )
    body = _card(forger, "", real, "").body.replace(f":{MARK}:", ":nowhere:")
    await target.run("console", [{"kind": "bus", "as": "console", "op": "ask", "subjects": ["from.console.card.decided"], "payload": body}])  # fmt: skip
    asked: Attempt = {
        "kind": "rows", "role": "connectors", "database": DATABASES["connectors"], "query": _ANSWER, "args": [real.hash],
    }  # fmt: skip
    got = "no answer"
    for _ in range(int(seconds / 0.25)):
        (outcome,) = await target.run("connectors", [asked])
        if outcome["value"]:
            got = f"refused {outcome['value'][0][0]}"
            break
        await asyncio.sleep(0.25)
    book.same("console", "card.decided: well signed, on a card that there is not", "refused not_found", got)


def _decision(forger: Forger, opening: Opening) -> CardDecision:
    return CardDecision(
        key_id=forger.key_id,
        card_id=card_of(forger),
        card_hash=forger.nothing,
        verdict="allow",
        decided_at=now(),
        decider=opening.commitment,
    )


def _setting(forger: Forger) -> ConnectorSetting:
    return ConnectorSetting(
        key_id=forger.key_id,
        name=f"prove-{forger.token}",
        kind="http",
        settings='{"base":"https://prove.example"}',
        enabled=True,
        decided_at=now(),
        decider=forger.opening.commitment,
        prior_version=0,
    )


def _card(forger: Forger, says: str, signed: Signed, expected: str, opening: Opening | None = None) -> Forged:
    data = CardDecided(card_id=card_of(forger), statement=signed, opening=opening or forger.opening)
    return Forged(says, forger.event("card.decided", data, MARK), expected, "card.decided")


def _connector(forger: Forger, says: str, signed: Signed) -> Forged:
    data = ConnectorDeclared(statement=signed, opening=forger.opening)
    return Forged(says, forger.event("connector.declared", data, MARK), SIGNATURE, "connector.declared")
