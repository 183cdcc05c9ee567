"""The gate's log, verified from its bytes by somebody else than the gate and the site: this module shares their contracts, not their code."""

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from pydantic import ValidationError

from schemas.content import ItemContent
from schemas.statements import (
    FIRST,
    Decision,
    GateEntry,
    KeyChange,
    LinkChange,
    Signed,
    Statement,
    SwitchSetting,
    Undo,
    Withdrawal,
    taken_back_by,
)
from schemas.text import BadJson, sha256
from shared.errors import BadSignature
from shared.ids import item_id
from shared.signing import PublicKeys

STATEMENTS: dict[str, type[Statement]] = {
    "publication": Decision,
    "site_mode": SwitchSetting,
    "key": KeyChange,
    "link": LinkChange,
}


@dataclass(frozen=True)
class Link:
    """An entry and the statement behind it, as stored."""

    gate: Signed
    statement: Signed


@dataclass
class Ledger:
    """Where the log stands after the entries read so far. `fault` names the first entry that is not right, and stops the reading."""

    keys: PublicKeys
    seq: int = -1
    head: str = FIRST
    fault: str = ""
    newest: dict[UUID, tuple[int, Link, Statement]] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.accepted |= self.keys.ids("decision")

    def read(self, links: Iterable[Link]) -> None:
        for link in links:
            if self.fault:
                return
            try:
                self._add(link)
            except (BadSignature, BadJson, ValidationError, ValueError) as error:
                self.fault = f"entry {self.seq + 1}: {str(error)[:200]}"

    def _add(self, link: Link) -> None:
        entry = self.keys.verify("gate", link.gate, GateEntry)
        if (entry.seq, entry.previous) != (self.seq + 1, self.head):
            raise ValueError(f"does not follow entry {self.seq}")
        if entry.statement_hash != link.statement.hash:
            raise ValueError("belongs to another statement")
        if link.statement.key_id not in self.accepted - self.revoked:
            raise ValueError(f"decision key {link.statement.key_id} does not count here")
        taken_back = entry.entry == "withdrawal"
        kind = taken_back_by(link.statement.payload) if taken_back else STATEMENTS[entry.entry]
        statement = self.keys.verify("decision", link.statement, kind)
        fault = meaning_fault(entry, statement)
        if fault:
            raise ValueError(fault)
        if isinstance(statement, KeyChange):
            self._change(statement)
        if (
            entry.item_id is not None and entry.entry != "link"
        ):  # which opens a way to an item, and changes nothing of it
            self.newest[entry.item_id] = (entry.seq, link, statement)
        self.seq, self.head = entry.seq, link.gate.hash

    def _change(self, change: KeyChange) -> None:
        if change.action == "revoked":
            self.revoked.add(change.subject_key_id)
            return
        self.keys.add("decision", change.subject_key_id, b64decode(change.subject_public_key, validate=True))
        self.accepted.add(change.subject_key_id)


def meaning_fault(entry: GateEntry, statement: Statement) -> str:
    """Why an entry does not say what its statement says."""
    match statement:
        case Decision() if statement.verdict != "approve":
            return "is no approval"
        case Decision() if (entry.item_id, entry.content_hash) != (statement.item_id, statement.content_hash):
            return "names another item or content than its decision"
        case Decision() if statement.item_id != item_id(statement.kind, statement.lang, statement.path):
            return "names an item that does not belong to its place"
        case Withdrawal() | Undo() if entry.item_id != statement.item_id:
            return "withdraws another item than its statement"
        case LinkChange() if entry.item_id != statement.item_id:
            return "opens or closes a share link to another item than its statement"
        case SwitchSetting() if statement.name != "site_mode":
            return "is no site mode"
        case KeyChange() if statement.subject_key_id == statement.key_id:
            return "lets a key vouch for itself"
        case _:
            return ""


@dataclass(frozen=True)
class Row:
    """A row of the site's published entries, as stored."""

    item_id: UUID
    seq: int
    place: tuple[str, str, str, str, str]
    """Kind, language, path, audience, content hash."""
    link: Link
    content: bytes = field(repr=False)


def row_fault(row: Row, ledger: Ledger) -> str:
    """Why nothing may be shown of a row."""
    if row.item_id not in ledger.newest:
        return "is not in the gate's log"
    seq, link, statement = ledger.newest[row.item_id]
    if not isinstance(statement, Decision):
        return "was withdrawn"
    if row.seq != seq or row.link != link:
        return "does not carry the signatures of its newest entry"
    if row.place != (statement.kind, statement.lang, statement.path, statement.audience, statement.content_hash):
        return "says something else than the signed decision"
    if sha256(row.content) != statement.content_hash:
        return "has another body than was approved"
    try:
        ItemContent.from_bytes(row.content)
    except (BadJson, ValidationError) as error:
        return f"cannot be read: {str(error)[:100]}"
    return ""
