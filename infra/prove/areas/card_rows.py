"""What the connectors keep of people's words, and of what they were asked: every row is read again and verified here, not by who wrote it."""

import base64
import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from schemas.agency import ActionDecision
from schemas.outward import Card, CardDecision, ConnectorSetting, SecretChange
from schemas.statements import KeyChange, Opening, Signed, Statement
from schemas.text import BadJson, canonical, parse_json, sha256
from shared.errors import BadSignature
from shared.settings import DATABASES
from shared.signing import PublicKeys

_STATEMENTS = """SELECT statement, signature, key_id, purpose, person_id, person_name, via, reason, nonce FROM core.statements ORDER BY position"""
_CARDS = "SELECT card_id::text, card, card_hash FROM core.cards"
_SHOWN = "SELECT card_id::text, encode(sha256(card), 'hex') FROM app.cards"
_REACHES = "SELECT name, array_to_string(hosts, ' ') FROM app.connectors"
_KINDS: dict[str, type[Statement]] = {
    kind.PURPOSE: kind for kind in (CardDecision, ActionDecision, ConnectorSetting, SecretChange, KeyChange)
}
_HIDDEN = ("person_id", "person_name", "via", "reason", "nonce")
LISTED = 5


async def check_statements(target: Target, book: Book) -> None:
    """Each was signed by a decision key that counted, in the name of the person it commits to, about a card that is there."""
    keys = PublicKeys.load(target.layout.public_keys)
    hashes = {row[0]: row[2] for row in await _rows(target, "connectors", _CARDS)}
    faults, revoked = [], set[str]()
    for row in await _rows(target, "connectors", _STATEMENTS):
        fault = _fault(row, keys, revoked, hashes)
        if fault:
            faults.append(fault)
    book.holds("connectors", "every word that counts was signed by a person's key", "; ".join(faults[:LISTED]))


def _fault(row: list[Any], keys: PublicKeys, revoked: set[str], hashes: dict[str, str]) -> str:
    payload, signature, key_id, purpose, *hidden = row
    signed = Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
    kind = _KINDS.get(purpose)
    if kind is None:
        return f"{signed.hash[:12]}: nobody signs for {purpose}"
    try:
        found = keys.verify("decision", signed, kind)
    except BadSignature as error:
        return f"{signed.hash[:12]}: {error.message}"
    if key_id in revoked:
        return f"{signed.hash[:12]}: key {key_id} was revoked before"
    if isinstance(found, KeyChange):
        _take_in(found, keys, revoked)
        return ""
    opening = Opening(**dict(zip(_HIDDEN, hidden, strict=True)))
    if opening.commitment != getattr(found, "decider", ""):
        return f"{signed.hash[:12]}: it commits to somebody else than {opening.person_name}"
    if isinstance(found, CardDecision) and hashes.get(str(found.card_id)) != found.card_hash:
        return f"{signed.hash[:12]}: card {found.card_id} does not say what was decided on"
    return ""


def _take_in(change: KeyChange, keys: PublicKeys, revoked: set[str]) -> None:
    if change.action == "revoked":
        revoked.add(change.subject_key_id)
    else:
        keys.add("decision", change.subject_key_id, base64.b64decode(change.subject_public_key))


async def check_cards(target: Target, book: Book) -> None:
    """A card is what its hash says; the console shows that and nothing else; and it names hosts that its connector was declared with."""
    held = {row[0]: row for row in await _rows(target, "connectors", _CARDS)}
    shown = await _rows(target, "console", _SHOWN)
    cards = {card_id: _read(bytes.fromhex(row[1]), row[2]) for card_id, row in held.items()}
    bad = [card_id for card_id, card in cards.items() if card is None]
    book.holds("connectors", "every card is what its hash says", ", ".join(bad[:LISTED]))
    strange = [card_id for card_id, digest in shown if card_id not in held or held[card_id][2] != digest]
    book.holds("console", "people are shown what the connectors asked", ", ".join(strange[:LISTED]))
    declared = await _declared(target)
    hosts = [
        f"{card.card_id} names {host}"
        for card in cards.values()
        if card is not None
        for host in card.hosts
        if not _is_declared(host, declared.get(card.connector, ""))
    ]
    book.holds("connectors", "a card names hosts that its connector was declared with", "; ".join(hosts[:LISTED]))


def _read(raw: bytes, digest: str) -> Card | None:
    try:
        card = Card.model_validate(parse_json(raw))
    except (BadJson, ValidationError):
        return None
    exact = canonical(card.model_dump(mode="json")) == raw and sha256(raw) == digest
    return card if exact else None


async def _declared(target: Target) -> dict[str, str]:
    """By connector: all that people ever declared of it, and what that opens now, as text in which a host is looked for."""
    found: dict[str, str] = {}
    for row in await _rows(target, "connectors", _STATEMENTS):
        if row[3] == ConnectorSetting.PURPOSE:
            said = json.loads(bytes.fromhex(row[0]))
            found[said["name"]] = f"{found.get(said['name'], '')} {said['settings'].lower()}"
    for name, hosts in await _rows(target, "console", _REACHES):
        found[name] = f"{found.get(name, '')} {hosts}"
    return found


def _is_declared(host: str, declared: str) -> bool:
    """The name, its international form, or a `*.` above it."""
    name = host.rpartition(":")[0].strip("[]")
    labels = name.split(".")
    above = (f"*.{'.'.join(labels[at:])}" for at in range(1, len(labels)))
    return any(each in declared for each in (name, _readable(name), *above))


def _readable(name: str) -> str:
    try:
        return name.encode("ascii").decode("idna")
    except UnicodeError:
        return name


async def _rows(target: Target, service: str, query: str) -> Iterable[list[Any]]:
    asked: Attempt = {"kind": "rows", "role": service, "database": DATABASES[service], "query": query}
    (outcome,) = await target.run(service, [asked])
    found: list[list[Any]] = outcome["value"]
    return found
