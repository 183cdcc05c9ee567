"""Area actions: in a conversation that has read untrusted text nothing lasting is done but what a person allowed, in exactly those bytes (S11, S5)."""

import base64
import json
from typing import Any

from pydantic import ValidationError

from infra.postgres.settings import SUPERUSER
from infra.prove.areas.action_forgeries import LETTER, forged, nowhere
from infra.prove.areas.decisions import try_forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.agency import ActionCard, ActionDecision
from schemas.catalogue import SURFACES
from schemas.statements import KeyChange, Opening, Signed
from schemas.text import BadJson, canonical, parse_json, sha256
from shared.errors import BadSignature
from shared.settings import DATABASES
from shared.signing import PublicKeys

FACTS = ("action.requested", "action.settled")
SECONDS, LISTED = 15.0, 5
_CARDS = "SELECT card_id::text, owner_kind, owner_id, tool, card, card_hash FROM core.action_cards"
_DECISIONS = "SELECT card_id::text, owner_kind, owner_id, verdict, statement, signature, key_id, opening FROM core.action_decisions"
_KEYS = "SELECT statement, signature, key_id FROM core.statements WHERE purpose = 'schleuse.key.v1' ORDER BY position"
_RUN = """SELECT r.card_id::text FROM core.action_runs r LEFT JOIN core.action_cards c USING (owner_kind, owner_id, card_id)
  LEFT JOIN core.action_decisions d USING (owner_kind, owner_id, card_id) WHERE c.card_id IS NOT NULL AND d.verdict IS DISTINCT FROM 'allow'"""
_DONE = """SELECT e.card_id::text FROM core.action_ends e LEFT JOIN core.action_runs r USING (owner_kind, owner_id, card_id)
  WHERE e.state = 'done' AND r.card_id IS NULL"""
_SHOWN = "SELECT card_id::text, encode(sha256(card), 'hex') FROM app.action_cards c WHERE NOT EXISTS (SELECT FROM app.action_states s WHERE s.card_id = c.card_id) AND requested_at < now() - interval '5 seconds'"


async def check(target: Target) -> list[Check]:
    book = Book("actions")
    await check_senders(target, book)
    await check_rows(target, book)
    try:
        await check_forged(target, book)
    finally:
        for service in ("bridge", "agent"):
            await forget(target, service, LETTER)
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """The word is the console's, what became of it the agent's; nobody else's account may say either, on whatever subject."""
    for service in SURFACES:
        words = [] if service == "console" else ["from.console.action.decided", f"from.{service}.action.decided"]
        facts = [] if service == "agent" else [f"from.agent.{name}" for name in FACTS]
        onward = ["to.agent.action.decided", "to.connectors.action.decided", *(f"to.console.{name}" for name in FACTS)]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
            for subject in (*words, *facts, *onward)
        ]
        for each, outcome in zip(tried, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {each['subjects'][0]}", outcome)


async def check_rows(target: Target, book: Book) -> None:
    """Every row is read again and verified here, not by who wrote it."""
    cards = {row[0]: row for row in await rows_of(target, "agent", _CARDS)}
    bad = [fault for row in cards.values() if (fault := _card_fault(row))]
    book.holds("agent", "every action card is what its hash says, and its owner's", "; ".join(bad[:LISTED]))
    keys = await keys_of(target)
    faults = [fault for row in await rows_of(target, "agent", _DECISIONS) if (fault := _fault(row, keys, cards))]
    book.holds(
        "agent", "every decision on an action was signed by a person's key, on that card", "; ".join(faults[:LISTED])
    )
    for says, query in (
        ("nothing was begun that nobody allowed", _RUN),
        ("nothing was done that was not begun", _DONE),
    ):
        found = [row[0] for row in await rows_of(target, "agent", query)]
        book.holds("agent", says, ", ".join(found[:LISTED]))
    shown = await rows_of(target, "console", _SHOWN)
    strange = [card_id for card_id, digest in shown if card_id not in cards or cards[card_id][5] != digest]
    book.holds("console", "people are shown what the agent asked", ", ".join(strange[:LISTED]))


async def check_forged(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    await try_forged(target, book, await forged(target, forger), LETTER)
    await nowhere(target, book, forger, SECONDS)


def _card_fault(row: list[Any]) -> str:
    card_id, kind, owner_id, tool, raw, digest = row
    try:
        card = ActionCard.model_validate(parse_json(bytes.fromhex(raw)))
    except (BadJson, ValidationError):
        return f"{card_id} is no card"
    if canonical(card.model_dump(mode="json")) != bytes.fromhex(raw) or sha256(bytes.fromhex(raw)) != digest:
        return f"{card_id} has another hash"
    same = (str(card.card_id), card.owner.kind, card.owner.id, card.tool) == (card_id, kind, owner_id, tool)
    return "" if same else f"{card_id} stands with somebody else, or under another name"


def _fault(row: list[Any], keys: PublicKeys, cards: dict[str, list[Any]]) -> str:
    """Cards that their owner had deleted are gone with their decisions."""
    card_id, kind, owner_id, verdict, payload, signature, key_id, opening = row
    signed = Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
    try:
        found = keys.verify("decision", signed, ActionDecision)
    except BadSignature as error:
        return f"{card_id}: {error.message}"
    said, card = Opening.model_validate(json.loads(bytes.fromhex(opening))), cards.get(card_id)
    faults = {
        "it commits to somebody else": said.commitment != found.decider,
        "no person decided": said.via not in ("console", "api", "operator"),
        "it stands with another card, or turned round": (str(found.card_id), found.verdict) != (card_id, verdict),
        "the card does not say what was decided on": card is None or card[5] != found.card_hash,
        "it stands with another owner": card is None or (card[1], card[2]) != (kind, owner_id),
    }
    return next((f"{card_id}: {words}" for words, wrong in faults.items() if wrong), "")


async def keys_of(target: Target) -> PublicKeys:
    """Those of the installation and those that were added since. What a key signed before it was revoked goes on counting here; it runs nothing any more."""
    keys = PublicKeys.load(target.layout.public_keys)
    for payload, signature, key_id in await rows_of(target, "agent", _KEYS):
        signed = Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
        change = keys.verify("decision", signed, KeyChange)
        if change.action != "revoked":
            keys.add("decision", change.subject_key_id, base64.b64decode(change.subject_public_key))
    return keys


async def rows_of(target: Target, service: str, query: str) -> list[list[Any]]:
    """As the superuser: what is divided by owner is seen whole by nobody else."""
    asked: Attempt = {"kind": "rows", "role": SUPERUSER, "database": DATABASES[service], "query": query}
    (outcome,) = await target.run("pgadm", [asked])
    found: list[list[Any]] = outcome["value"]
    return found
