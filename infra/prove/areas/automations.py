"""Area automations: nothing runs by itself but what a person allowed, in exactly those words, and for nothing else does the agent act (rule 28, S10)."""

# statements are composed of constants of ours
# ruff: noqa: S608

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from infra.prove.areas.actions import LISTED, keys_of, rows_of
from infra.prove.areas.asking import attempt, delegation, key_id_of, said
from infra.prove.check import Book, Check
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from schemas.agency import AUTOMATE, ActionCard, ActionDecision
from schemas.catalogue import SURFACES
from schemas.outward import Delegation
from schemas.statements import Opening, Signed
from schemas.text import BadJson, parse_json, sha256
from shared.errors import BadSignature
from shared.ids import fresh_id
from shared.signing import PublicKeys

LONGEST = timedelta(hours=12)
SETTLING = "interval '60 seconds'"
"""What was just taken back may not have ended yet."""
_CARDS = f"SELECT owner_kind, owner_id, card_id::text, card FROM core.action_cards WHERE tool = '{AUTOMATE}'"
_ALLOWED = (
    "SELECT card_id::text, statement, signature, key_id, opening FROM core.action_decisions WHERE verdict = 'allow'"
)
_REVOKED = "SELECT card_id::text, statement, signature, key_id, opening FROM core.action_revocations"
_OVER = f"SELECT card_id::text FROM core.action_revocations WHERE at < now() - {SETTLING}"
_HELD = "SELECT owner_kind, owner_id, card_id::text, statement, signature, key_id FROM core.automation_delegations"
_TASKS = (
    "SELECT owner_kind, owner_id, card_id::text, text FROM core.tasks WHERE kind = 'automation' AND state <> 'ended'"
)
_BELIEVED = """SELECT g.card_id::text FROM app.automation_delegations g WHERE g.expires_at > now() AND NOT EXISTS
  (SELECT FROM app.action_decisions d WHERE d.card_id = g.card_id AND d.verdict = 'allow' AND d.outcome <> 'refused')"""


async def check(target: Target) -> list[Check]:
    book = Book("automations")
    await check_senders(target, book)
    await check_rows(target, book)
    await check_asks(target, book)
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """How it stands with one is the agent's to say; that one may run is nobody's but a person's."""
    for service in SURFACES:
        facts = [] if service == "agent" else ["from.agent.automation.stated", f"from.{service}.automation.stated"]
        subjects = [*facts, "to.console.automation.stated"]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [each], "payload": "{}"} for each in subjects
        ]
        for each, outcome in zip(subjects, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {each}", outcome)


async def check_rows(target: Target, book: Book) -> None:
    """Every row is read again and verified here, not by who wrote it; what people said is read last, so that nothing newer than it is missed."""
    keys, tasks, kept = await keys_of(target), await rows_of(target, "agent", _TASKS), await rows_of(target, "agent", _HELD)  # fmt: skip
    cards = {row[2]: (f"{row[0]}:{row[1]}", row[3]) for row in await rows_of(target, "agent", _CARDS)}
    allowed, bad = _signed(keys, await rows_of(target, "agent", _ALLOWED), "allow")
    _, worse = _signed(keys, await rows_of(target, "agent", _REVOKED), "revoke")
    over = {row[0] for row in await rows_of(target, "agent", _OVER)}
    good = {card: found for card, found in _instructions(cards).items() if allowed.get(card) == found[2] and card not in over}  # fmt: skip
    faults = [fault for each, fault in (*bad.items(), *worse.items()) if each in cards]
    book.holds("agent", "every word on an automation was signed by a person's key", "; ".join(faults[:LISTED]))
    strange = [f"{row[2]} of {row[0]}:{row[1]}" for row in tasks if not _stands(row, good)]  # fmt: skip
    book.holds(
        "agent", "every automation does what a person allowed, for its owner, in those words", ", ".join(strange)
    )
    held = [fault for row in kept if (fault := _delegation_fault(keys, row, good))]
    book.holds("agent", "every automation's delegation is for its card, its instruction and its owner", "; ".join(held[:LISTED]))  # fmt: skip
    believed = [row[0] for row in await rows_of(target, "console", _BELIEVED)]
    book.holds("console", "it says of no automation that the agent may act, but of those that were allowed", ", ".join(believed[:LISTED]))  # fmt: skip


async def check_asks(target: Target, book: Book) -> None:
    """The connectors act for an automation by its own delegation, for the instruction that is carried out, while its card is allowed."""
    real = await key_id_of(target)
    digest, other = sha256(b"summarise my mails"), Forger.of(target).nothing
    wrong = {
        "bound to an instruction that is not carried out": delegation(real, "agent", instruction_hash=digest),
        "bound to a card of an automation that nobody allowed": delegation(
            real, "agent", card_id=fresh_id(), instruction_hash=digest
        ),
        "for another operation of an automation": delegation(
            real, "agent", operation="mail.send", instruction_hash=other
        ),
        "of an automation, which has expired": delegation(
            real, "agent", minutes=-1, card_id=fresh_id(), instruction_hash=digest
        ),
    }
    signed = await sign(target, "console", [("identity", each.purpose, each.to_bytes()) for each in wrong.values()])
    tried = [attempt("agent", "search_audit", {"delegation": each.model_dump(mode="json")}) for each in signed]
    for says, outcome in zip(wrong, await target.run("agent", tried), strict=True):
        book.same("agent", f"act for an owner with a delegation {says}", "refused: delegation", said(outcome))


def _signed(keys: PublicKeys, rows: list[list[Any]], verdict: str) -> tuple[dict[str, str], dict[str, str]]:
    """By card: the hash of the card that a person's word is about; and what is wrong with the others."""
    about, faults = {}, {}
    for card_id, payload, signature, key_id, opening in rows:
        try:
            found = keys.verify("decision", _statement(payload, signature, key_id), ActionDecision)
        except BadSignature as error:
            faults[card_id] = f"{card_id}: {error.message}"
            continue
        person = Opening.model_validate_json(bytes.fromhex(opening))
        if (str(found.card_id), found.verdict, person.commitment) != (card_id, verdict, found.decider):
            faults[card_id] = f"{card_id}: it says something else than was signed"
        else:
            about[card_id] = found.card_hash
    return about, faults


def _instructions(cards: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str, str]]:
    """By card: whose it is, its instruction, and the hash that a decision signs."""
    return {card_id: found for card_id, (owner, raw) in cards.items() for found in _read(owner, bytes.fromhex(raw))}


def _read(owner: str, raw: bytes) -> Iterator[tuple[str, str, str]]:
    try:
        card = ActionCard.model_validate(parse_json(raw))
        said_there = parse_json(card.arguments.encode())["instruction"]
    except (BadJson, ValueError, KeyError, TypeError):
        return
    if str(card.owner) == owner and isinstance(said_there, str):
        yield owner, said_there, sha256(raw)


def _stands(row: list[Any], good: Mapping[str, tuple[str, str, str]]) -> bool:
    kind, owner_id, card_id, instruction = row
    found = good.get(card_id)
    return found is not None and found[:2] == (f"{kind}:{owner_id}", instruction)


def _delegation_fault(keys: PublicKeys, row: list[Any], good: Mapping[str, tuple[str, str, str]]) -> str:
    kind, owner_id, card_id, payload, signature, key_id = row
    try:
        found = keys.verify("identity", _statement(payload, signature, key_id), Delegation)
    except BadSignature as error:
        return f"{card_id}: {error.message}"
    card = good.get(card_id)
    bound = None if card is None else (card[0], sha256(card[1].encode()))
    if (f"{kind}:{owner_id}", found.instruction_hash) != bound or (str(found.owner), str(found.card_id)) != (f"{kind}:{owner_id}", card_id):  # fmt: skip
        return f"{card_id}: it is for {found.owner}, card {found.card_id}, and that is not what was allowed"
    if found.audience != "agent" or found.expires_at - found.issued_at > LONGEST:
        return f"{card_id}: it is for {found.audience}, {found.expires_at - found.issued_at} long"
    return ""


def _statement(payload: str, signature: str, key_id: str) -> Signed:
    return Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
