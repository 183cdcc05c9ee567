"""The gate's log as the site accepts it, link by link (S6). Pure.

A link counts when the console's decision key signed its statement, the gate key signed its place in the log, and the place
follows the one before.
"""

from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from schemas.statements import (
    FIRST,
    Decision,
    GateEntry,
    GateHead,
    KeyChange,
    LinkChange,
    Signed,
    Statement,
    SwitchSetting,
    Undo,
    Withdrawal,
)
from schemas.text import BadJson, parse_json
from shared.errors import BadSignature, Permanent
from shared.ids import item_id as derived_item_id
from shared.signing import PublicKeys

STATEMENTS: dict[str, tuple[type[Statement], ...]] = {
    "publication": (Decision,),
    "withdrawal": (Withdrawal, Undo),
    "site_mode": (SwitchSetting,),
    "key": (KeyChange,),
    "link": (LinkChange,),
}
"""What may stand behind an entry. An approval that was undone is withdrawn."""


class BadReceipt(Permanent):
    """An entry, row or head does not carry what it must; the message says which part is wrong."""

    default_code = "bad_receipt"


@dataclass(frozen=True)
class Link:
    """One entry of the gate's log with the console's statement behind it, as it was signed."""

    gate: Signed
    statement: Signed


@dataclass(frozen=True)
class LogState:
    """Where the log stands after entry `seq` (-1: empty). `accepted`: the decision keys that count from here on."""

    accepted: frozenset[str]
    seq: int = -1
    hash: str = FIRST
    mode: str | None = None
    revoked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Entered:
    """A verified link: its place, the statement read from the signed bytes, and where the log stands after it."""

    link: Link
    entry: GateEntry
    statement: Statement
    after: LogState

    @property
    def hash(self) -> str:
        return self.link.gate.hash


def read_entry(gate: Signed, keys: PublicKeys) -> GateEntry:
    """The gate's signed entry; BadSignature otherwise."""
    return keys.verify("gate", gate, GateEntry)


def enter(state: LogState, link: Link, keys: PublicKeys, entry: GateEntry | None = None) -> Entered:
    """Verify the next link of the log. BadReceipt or BadSignature when anything is not right. `entry`: what `read_entry`
    gave for this very link, if it was asked before."""
    entry = entry or read_entry(link.gate, keys)
    if (entry.seq, entry.previous) != (state.seq + 1, state.hash):
        raise BadReceipt(f"entry {entry.seq} does not continue the log after entry {state.seq}")
    if entry.statement_hash != link.statement.hash:
        raise BadReceipt(f"entry {entry.seq} was sealed for another statement")
    _check_key(state, link.statement.key_id)
    statement = keys.verify("decision", link.statement, _kind(entry, link.statement))
    _check_meaning(entry, statement)
    after = _moved(replace(state, seq=entry.seq, hash=link.gate.hash), statement, keys)
    return Entered(link, entry, statement, after)


def check_signatures(link: Link, keys: PublicKeys) -> None:
    """BadSignature unless the gate and the console signed these very bytes."""
    keys.verify_bytes("gate", link.gate.key_id, GateEntry.PURPOSE, link.gate.payload, link.gate.signature)
    entry = GateEntry.model_validate_json(link.gate.payload)
    purpose, signed = _kind(entry, link.statement).PURPOSE, link.statement
    keys.verify_bytes("decision", signed.key_id, purpose, signed.payload, signed.signature)


def _check_key(state: LogState, key_id: str) -> None:
    if key_id in state.revoked:
        raise BadReceipt(f"decision key {key_id} was revoked before this entry")
    if key_id not in state.accepted:
        raise BadReceipt(f"decision key {key_id} is not known at this point of the log")


def _kind(entry: GateEntry, signed: Signed) -> type[Statement]:
    """Which of the statements that may stand here this one says it is; its signature is checked for that purpose."""
    first, *others = STATEMENTS[entry.entry]
    if not others:
        return first
    try:
        said: Any = parse_json(signed.payload)
    except BadJson:
        return first
    purpose = said.get("purpose") if isinstance(said, dict) else None
    return next((kind for kind in others if purpose == kind.PURPOSE), first)


def _check_meaning(entry: GateEntry, statement: Statement) -> None:
    match statement:
        case Decision():
            _check_decision(entry, statement)
        case Withdrawal() | Undo() if statement.item_id != entry.item_id:
            raise BadReceipt("the withdrawal is about another item")
        case LinkChange() if statement.item_id != entry.item_id:
            raise BadReceipt("the share link is to another item")
        case SwitchSetting() if statement.name != "site_mode" or statement.value not in ("off", "members", "open"):
            raise BadReceipt("the statement sets no site mode")
        case KeyChange() if statement.subject_key_id == statement.key_id:
            raise BadReceipt("a key cannot vouch for itself")
        case _:
            return


def _check_decision(entry: GateEntry, decision: Decision) -> None:
    if decision.verdict != "approve":
        raise BadReceipt(f"the verdict is {decision.verdict!r}, not an approval")
    if entry.item_id != decision.item_id or entry.content_hash != decision.content_hash:
        raise BadReceipt("the gate's entry names another item or content than the decision")
    if decision.item_id != derived_item_id(decision.kind, decision.lang, decision.path):
        raise BadReceipt("the item's id does not belong to its kind, language and path")


def _moved(state: LogState, statement: Statement, keys: PublicKeys) -> LogState:
    match statement:
        case SwitchSetting():
            return replace(state, mode=statement.value)
        case KeyChange(action="added"):
            keys.add("decision", statement.subject_key_id, _raw_key(statement))
            return replace(state, accepted=state.accepted | {statement.subject_key_id})
        case KeyChange():
            return replace(state, revoked=state.revoked | {statement.subject_key_id})
        case _:
            return state


def _raw_key(change: KeyChange) -> bytes:
    try:
        return b64decode(change.subject_public_key, validate=True)
    except ValueError:
        raise BadReceipt("the added key is not base64") from None


def follow(start: LogState, links: Sequence[Link], keys: PublicKeys) -> tuple[LogState, list[Entered]] | None:
    """A stored chain whose newest entry the gate signed: each entry commits to the one before it and to its statement, so that one
    signature vouches for every byte of them. None when anything is not right; `replay` then says what.

    Not looked at are the signatures themselves of the entries before, which `check_signatures` verifies before a text is shown.
    """
    state, entered, trial = start, list[Entered](), keys.copy()  # a key counts once the whole chain does
    try:
        if links:
            read_entry(links[-1].gate, trial)
        for link in links:
            found = _follow(state, link, trial)
            state = found.after
            entered.append(found)
    except (BadReceipt, BadSignature, ValidationError):
        return None
    for found in entered:
        if isinstance(found.statement, KeyChange):
            _moved(state, found.statement, keys)
    return state, entered


def _follow(state: LogState, link: Link, keys: PublicKeys) -> Entered:
    entry = GateEntry.model_validate_json(link.gate.payload)
    if (entry.seq, entry.previous) != (state.seq + 1, state.hash) or entry.statement_hash != link.statement.hash:
        raise BadReceipt("the log was touched")
    _check_key(state, link.statement.key_id)
    statement = _kind(entry, link.statement).model_validate_json(link.statement.payload)
    if statement.key_id != link.statement.key_id or entry.key_id != link.gate.key_id:
        raise BadReceipt("a statement names another key than the one that signed it")
    _check_meaning(entry, statement)
    return Entered(link, entry, statement, _moved(replace(state, seq=entry.seq, hash=link.gate.hash), statement, keys))


def read_head(sealed: Signed, keys: PublicKeys) -> GateHead:
    """The gate's signed head; BadSignature otherwise."""
    return keys.verify("gate", sealed, GateHead)


def replay(start: LogState, links: Iterable[Link], keys: PublicKeys) -> tuple[LogState, list[Entered], str | None]:
    """Verify a stored chain: the state after its longest valid beginning, that beginning, and what stopped it."""
    state, entered = start, list[Entered]()
    for link in links:
        try:
            found = enter(state, link, keys)
        except (BadReceipt, BadSignature) as error:
            return state, entered, error.message
        state = found.after
        entered.append(found)
    return state, entered, None
