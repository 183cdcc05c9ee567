"""What the site accepts as public: the gate's log, link by link, and the rows that hang on it (S1, S6). Pure.

A publication counts when the console's decision key signed the verdict, the gate key signed its place in the log, the place
follows the one before, and the content is the content that was judged. Everything shown is read from those signed bytes.
"""

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from pydantic import ValidationError

from schemas.content import ItemContent
from schemas.statements import (
    FIRST,
    Decision,
    GateEntry,
    GateHead,
    KeyChange,
    Signed,
    Statement,
    SwitchSetting,
    Withdrawal,
)
from schemas.text import BadJson, sha256
from shared.errors import BadSignature, Permanent
from shared.ids import item_id as derived_item_id
from shared.signing import PublicKeys

STATEMENTS: dict[str, type[Statement]] = {
    "publication": Decision,
    "withdrawal": Withdrawal,
    "site_mode": SwitchSetting,
    "key": KeyChange,
}


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


@dataclass(frozen=True)
class Row:
    """A row of `entries` as it lies in the database: nothing in it is believed before `check_row` has seen it."""

    item_id: UUID
    seq: int
    kind: str
    lang: str
    path: str
    audience: str
    content_hash: str
    statement: Signed
    gate: Signed
    content: bytes = field(repr=False)
    xmin: str = ""


@dataclass(frozen=True)
class Published:
    """What the site may show, read from the signed decision. The content itself stays in the database."""

    item_id: UUID
    seq: int
    entry_hash: str
    statement_hash: str
    content_hash: str
    kind: str
    lang: str
    path: str
    audience: str
    revision: int
    title: str
    summary: str
    decided_at: datetime
    published_at: datetime
    expire_at: datetime | None

    @property
    def url(self) -> str:
        return f"/{self.kind}/{self.lang}/{self.path}"

    @property
    def stamp(self) -> tuple[int, str]:
        """Changes with every publication of the item."""
        return self.seq, self.entry_hash

    def is_public(self, at: datetime) -> bool:
        return self.audience == "public" and (self.expire_at is None or at < self.expire_at)


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
    statement = keys.verify("decision", link.statement, STATEMENTS[entry.entry])
    _check_meaning(entry, statement)
    after = _moved(replace(state, seq=entry.seq, hash=link.gate.hash), statement, keys)
    return Entered(link, entry, statement, after)


def _check_key(state: LogState, key_id: str) -> None:
    if key_id in state.revoked:
        raise BadReceipt(f"decision key {key_id} was revoked before this entry")
    if key_id not in state.accepted:
        raise BadReceipt(f"decision key {key_id} is not known at this point of the log")


def _check_meaning(entry: GateEntry, statement: Statement) -> None:
    match statement:
        case Decision():
            _check_decision(entry, statement)
        case Withdrawal() if statement.item_id != entry.item_id:
            raise BadReceipt("the withdrawal is about another item")
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


def read_content(raw: bytes, content_hash: str) -> ItemContent:
    """The content that was judged; BadReceipt when these are other bytes."""
    if sha256(raw) != content_hash:
        raise BadReceipt("the content is not the content that was approved")
    try:
        return ItemContent.from_bytes(raw)
    except (BadJson, ValidationError) as error:
        raise BadReceipt(f"the content is not readable: {error}") from None


def published(entered: Entered, content: bytes) -> Published:
    """What may be shown of a verified publication; BadReceipt when the content is not the one that was judged."""
    decision = entered.statement
    assert isinstance(decision, Decision)
    shown = read_content(content, decision.content_hash)
    return Published(
        item_id=decision.item_id,
        seq=entered.entry.seq,
        entry_hash=entered.hash,
        statement_hash=entered.link.statement.hash,
        content_hash=decision.content_hash,
        kind=decision.kind,
        lang=decision.lang,
        path=decision.path,
        audience=decision.audience,
        revision=decision.revision,
        title=shown.title,
        summary=shown.summary,
        decided_at=decision.decided_at,
        published_at=entered.entry.at,
        expire_at=decision.expire_at,
    )


def check_row(row: Row, current: Entered | None) -> Published:
    """What may be shown of a row. `current`: the item's newest entry in the verified log. BadReceipt says what is wrong."""
    if current is None:
        raise BadReceipt("the gate's log has no entry for this row")
    if not isinstance(current.statement, Decision):
        raise BadReceipt("the item was withdrawn")
    if row.seq != current.entry.seq:
        raise BadReceipt(f"the row is entry {row.seq}, the item's newest entry is {current.entry.seq}")
    if row.gate != current.link.gate or row.statement != current.link.statement:
        raise BadReceipt("the row's signatures are not those of the gate's log")
    found = published(current, row.content)
    shown = (found.item_id, found.kind, found.lang, found.path, found.audience, found.content_hash)
    if (row.item_id, row.kind, row.lang, row.path, row.audience, row.content_hash) != shown:
        raise BadReceipt("the row's columns say something else than the signed decision")
    return found


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
