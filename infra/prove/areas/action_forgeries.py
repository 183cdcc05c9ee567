"""Decisions on action cards that nobody made, for area actions."""

import asyncio
from uuid import UUID, uuid5

from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.check import Book
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from schemas.agency import ActionDecision
from schemas.console.v1 import ActionDecided
from schemas.outward import CardDecision
from schemas.statements import Opening, Signed
from shared.clock import now
from shared.settings import DATABASES

LETTER = "n"
_PARKED = "SELECT reason FROM app.parked WHERE position(convert_to($1, 'UTF8') IN body) > 0"


async def forged(target: Target, forger: Forger) -> list[Forged]:
    """Signed by whom they must not be, for what they must not be, or saying something else than was signed."""
    allow, agents = decision(forger, forger.opening), forger.opening.model_copy(update={"via": "agent"})
    wanted = [
        ("decision", ActionDecision.PURPOSE, allow.to_bytes()),
        ("decision", CardDecision.PURPOSE, allow.to_bytes()),
        ("decision", ActionDecision.PURPOSE, decision(forger, agents).to_bytes()),
        ("identity", ActionDecision.PURPOSE, allow.to_bytes()),
    ]
    real, crossed, by_agent, identity = await sign(target, "console", wanted)
    refused = allow.to_bytes().replace(b'"verdict":"allow"', b'"verdict":"refuse"')
    somebody = forger.opening.model_copy(update={"person_name": "somebody else"})
    other = ActionDecided(card_id=uuid5(UUID(int=1), forger.token), statement=real, opening=forger.opening)
    return [
        _event(forger, "not signed", real.model_copy(update={"signature": b""}), SIGNATURE),
        _event(forger, "signed by a stranger", forger.by_stranger(allow), SIGNATURE),
        _event(forger, "signed by a stranger in the real key's name", forger.by_stranger(allow, forger.key_id), SIGNATURE),
        _event(forger, "signed by the identity's key in the real key's name", identity.model_copy(update={"key_id": forger.key_id}), SIGNATURE),
        _event(forger, "signed for a card of connectors", crossed, SIGNATURE),
        _event(forger, "turned round after signing", real.model_copy(update={"payload": refused}), SIGNATURE),
        _event(forger, "well signed, another person than signed for", real, SIGNATURE, somebody),
        _event(forger, "well signed, by way of an agent", by_agent, "invalid", agents),
        Forged("well signed, about another card than the event", forger.event("action.decided", other, MARK), "invalid", "action.decided"),
    ]  # fmt: skip


async def nowhere(target: Target, book: Book, forger: Forger, seconds: float) -> None:
    """Well signed, about a card that there is not: it passes the lock, and the agent parks it."""
    taken_back = decision(forger, forger.opening).model_copy(
        update={"verdict": "revoke"}
    )  # the connectors keep no such word
    wanted = [("decision", ActionDecision.PURPOSE, taken_back.to_bytes())]
    (real,) = await sign(target, "console", wanted)
    body = _event(forger, "", real, "").body.replace(f":{MARK}:", f":{LETTER}owhere:")
    await target.run("console", [{"kind": "bus", "as": "console", "op": "ask", "subjects": ["from.console.action.decided"], "payload": body}])  # fmt: skip
    asked: Attempt = {"kind": "rows", "role": "agent", "database": DATABASES["agent"], "query": _PARKED, "args": [f"prove:{forger.token}:{LETTER}owhere:"]}  # fmt: skip
    got = "no trace"
    for _ in range(int(seconds / 0.25)):
        (outcome,) = await target.run("agent", [asked])
        if outcome["value"]:
            got = (
                "parked" if "there is no action card" in outcome["value"][0][0] else f"parked: {outcome['value'][0][0]}"
            )
            break
        await asyncio.sleep(0.25)
    book.same("console", "action.decided: well signed, on a card that there is not", "parked", got)


def decision(forger: Forger, opening: Opening) -> ActionDecision:
    return ActionDecision(
        key_id=forger.key_id,
        card_id=uuid5(UUID(int=0), f"action {forger.token}"),
        card_hash=forger.nothing,
        verdict="allow",
        decided_at=now(),
        decider=opening.commitment,
    )


def _event(forger: Forger, says: str, signed: Signed, expected: str, opening: Opening | None = None) -> Forged:
    card_id = uuid5(UUID(int=0), f"action {forger.token}")
    data = ActionDecided(card_id=card_id, statement=signed, opening=opening or forger.opening)
    return Forged(says, forger.event("action.decided", data, MARK), expected, "action.decided")
