"""Area asking: who may ask the connectors under which name, and that nobody acts for an owner without the console's word for it (S10)."""

from datetime import timedelta
from typing import Any

from infra.nats.topology import ANSWERER
from infra.prove.check import Book, Check
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from schemas.catalogue import SERVICES
from schemas.outward import ASKERS, Delegation, Owner
from schemas.statements import Signed
from shared.asking.subjects import ANSWERED, QUEUE, STEERING, ask_subject, ask_subjects, heard_subjects
from shared.clock import now
from shared.ids import fresh_id

SEARCH = "audit.search"
NOBODY = "prove-no-such-connector"


async def check(target: Target) -> list[Check]:
    book = Book("asking")
    await check_names(target, book)
    await check_listening(target, book)
    await check_parameters(target, book)
    await check_delegations(target, book)
    await check_search(target, book)
    return book.checks


async def check_names(target: Target, book: Book) -> None:
    """Who asks is a token of the subject: nobody can say another's."""
    for service in SERVICES:
        own = ask_subjects(service)
        foreign = [each for each in heard_subjects() if each not in own] + [
            f"ask.connectors.{service}.probe",
            f"ask.bridge.{service}.call",
        ]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
            for subject in foreign
        ]
        for subject, outcome in zip(foreign, await target.run(service, tried), strict=True):
            book.outcome(service, f"ask as somebody else: {subject}", outcome)


async def check_listening(target: Target, book: Book) -> None:
    """Nobody overhears what is asked; the connectors' instances share it and cannot take copies."""
    for service in SERVICES:
        heard = [ask_subject(asker, verb) for asker in ASKERS for verb in (*ANSWERED, *STEERING)]
        if service == ANSWERER:
            heard = [ask_subject(asker, verb) for asker in ASKERS for verb in ANSWERED]
        queues = (("", QUEUE) if service != ANSWERER else ("", "others"))  # fmt: skip
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "subscribe", "subjects": heard, "queue": queue} for queue in queues
        ]
        for queue, outcome in zip(queues, await target.run(service, tried), strict=True):
            book.outcome(service, f"hear what is asked{f', in queue {queue}' if queue else ''}", outcome)


async def check_parameters(target: Target, book: Book) -> None:
    """An owner is never an argument (rule 24), and what nobody knows is an error, not ignored."""
    heads: dict[str, tuple[dict[str, Any], str]] = {
        "with an owner as a parameter": ({"owner": {"kind": "user", "id": "1"}}, "unknown_parameter"),
        "on behalf of, as a parameter": ({"on_behalf_of": "user:1"}, "unknown_parameter"),
        "as another asker, as a parameter": ({"asker": "console"}, "unknown_parameter"),
        "through a connector that nobody declared": ({}, "connector_unknown"),
    }
    for service in ASKERS:
        tried = [attempt(service, "call", {"connector": NOBODY, "operation": "get", **more}, "{}") for more, _ in heads.values()]  # fmt: skip
        for (says, (_, code)), outcome in zip(heads.items(), await target.run(service, tried), strict=True):
            book.same(service, f"ask {says}", f"refused: {code}", said(outcome))


async def check_delegations(target: Target, book: Book) -> None:
    """For an owner only with a delegation by the identity key, to this asker, for this operation, now."""
    for service in ASKERS:
        made = await _forged(target, service)
        tried = [
            attempt(service, "search_audit", {"delegation": each.model_dump(mode="json")}) for each in made.values()
        ]
        for says, outcome in zip(made, await target.run(service, tried), strict=True):
            book.same(service, f"act for an owner with a delegation {says}", "refused: delegation", said(outcome))


async def check_search(target: Target, book: Book) -> None:
    """An asker sees its own part of the call audit, and of that nothing that was done for an owner."""
    for service in ASKERS:
        (outcome,) = await target.run(service, [attempt(service, "search_audit", {"query": {"limit": 200}})])
        shown = (outcome.get("value") or {}).get("entries", [])
        strange = [each["seq"] for each in shown if each["asker"] != service or each["on_behalf_of"]]
        fault = f"entries {strange[:5]} are not its own" if strange else said(outcome) if outcome["got"] != "done" else ""  # fmt: skip
        book.holds(service, "the call audit shows an asker its own entries only", fault)


async def _forged(target: Target, service: str) -> dict[str, Signed]:
    """Such as do not hold, by what is wrong with them. Those of the real key are signed by the console itself."""
    real = await key_id_of(target)
    other = next(each for each in ASKERS if each != service)
    wrong = {
        "to another asker": delegation(real, other),
        "that expired": delegation(real, service, minutes=-5),
        "for another operation": delegation(real, service, operation="mail.send"),
        "bound to a card that nobody decided": delegation(real, service, card_id=fresh_id()),
        "valid for a month": delegation(real, service, minutes=30 * 24 * 60),
    }
    signed = await sign(target, "console", [("identity", each.purpose, each.to_bytes()) for each in wrong.values()])
    forger, decision = Forger.of(target), delegation(Forger.of(target).key_id, service)
    by_decision = await sign(target, "console", [("decision", decision.purpose, decision.to_bytes())])
    stranger = delegation(forger.stranger.key_id, service)
    found = dict(zip(wrong, signed, strict=True))
    found["signed with the decision key"] = by_decision[0]
    found["signed by a stranger"] = forger.by_stranger(stranger)
    found["signed by a stranger in the console's name"] = forger.by_stranger(delegation(real, service), real)
    return found


async def key_id_of(target: Target) -> str:
    (found,) = await sign(target, "console", [("identity", "schleuse.prove.v1", b"who signs")])
    return found.key_id


def delegation(key_id: str, audience: Any, *, minutes: float = 10, operation: str = SEARCH, **more: Any) -> Delegation:
    at = now()
    return Delegation(
        key_id=key_id, delegation_id=fresh_id(), owner=Owner(kind="user", id="prove"), audience=audience, operations=(operation,),
        issued_at=min(at, at + timedelta(minutes=minutes)) - timedelta(seconds=1), expires_at=at + timedelta(minutes=minutes), **more,
    )  # fmt: skip


def attempt(service: str, verb: str, head: dict[str, Any], body: str = "") -> Attempt:
    return {"kind": "asking", "as": service, "verb": verb, "head": head, "body": body}


def said(outcome: dict[str, Any]) -> str:
    return f"{outcome['got']}: {outcome['detail']}" if outcome.get("detail") else str(outcome["got"])
