"""The call audit's entries: one chain, each entry committing to the one before it (rule 17). Pure."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from schemas.connectors import v1, v2
from schemas.text import BadJson, canonical, parse_json, sha256

FIRST = "0" * 64
LONGEST = 500
"""Characters of a line (schemas.model.Line)."""
FIELDS = frozenset(v2.CallAudited.model_fields) - {"hash"}
FIELDS_BEFORE = frozenset(v1.CallAudited.model_fields)
"""Of the entries that earlier releases wrote."""
Outcome = Literal["begun", "ok", "failed", "refused", "cancelled", "lost", "noted"]
_KEYS = frozenset(tuple(sorted(names | {"previous"})) for names in (FIELDS, FIELDS_BEFORE))
WORDS = ("asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "secret", "detail")
"""What a free search looks through; the last two came with the second version."""
GAP, MARK = "\x1f", "\x1e"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Note:
    """What is to be written down (schemas.connectors.v2.CallAudited). Never a body, never a value of a secret. None: unknown."""

    call_id: UUID
    asker: str
    operation: str
    outcome: Outcome
    on_behalf_of: str = ""
    connector: str = ""
    target: str = ""
    status: str = ""
    secret: str = ""
    detail: str = ""
    duration_ms: int | None = None
    bytes_out: int | None = None
    bytes_in: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    trace_id: str = ""


class Head(NamedTuple):
    """The newest entry's place and hash; the empty audit is at -1."""

    seq: int = -1
    hash: str = FIRST


@dataclass(frozen=True)
class Entry:
    """One link: `bytes_` is the RFC 8785 form of all fields with the place and the previous hash, `hash` its SHA-256."""

    seq: int
    entry_id: UUID
    bytes_: bytes
    hash: str
    previous: str
    event: bytes
    """Data of the event that tells of it: the same fields, and the hash."""


def make_entry(note: Note, head: Head, entry_id: UUID, at: datetime) -> Entry:
    """The entry after `head`. Text that cannot be stored becomes U+FFFD (rule 19), which `detail` then says; long text is cut."""
    fields = _cleaned({name: value for name, value in vars(note).items() if name != "call_id"})
    fields |= {"call_id": str(note.call_id), "entry_id": str(entry_id), "seq": head.seq + 1, "at": instant(at)}
    raw = canonical(fields | {"previous": head.hash})
    hashed = sha256(raw)
    told = json.dumps(fields | {"hash": hashed}, ensure_ascii=False, separators=(",", ":")).encode()
    return Entry(head.seq + 1, entry_id, raw, hashed, head.hash, told)


def instant(at: datetime) -> str:
    """Microseconds, UTC, as in every event."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _cleaned(fields: dict[str, Any]) -> dict[str, Any]:
    mended = False
    for name, value in fields.items():
        if isinstance(value, str):
            text = _UNSTORABLE.sub("\ufffd", value)
            mended = mended or text != value
            fields[name] = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    if mended:
        fields["detail"] = f"{fields['detail']} (text mended)".strip()[-LONGEST:]
    return fields


class Row(NamedTuple):
    """A stored entry: its bytes, and everything else that stands beside them, as `columns_of` spells it."""

    seq: int
    entry: bytes
    columns: str


def columns_of(fields: Mapping[str, Any], hashed: str) -> str:
    """What the columns beside an entry must say: made from its bytes and from nothing else."""
    first = fields.get("call_id") is None
    stated = (
        fields["seq"], hashed, fields["previous"], fields["entry_id"], fields["at"], fields.get("call_id", ""),
        fields["asker"], fields["on_behalf_of"], fields["connector"], fields["target"], fields["outcome"], fields["status"],
        fields["trace_id"], _words(fields), 1 if first else 0,
    )  # fmt: skip
    return MARK.join(map(str, stated))


def _words(fields: Mapping[str, Any]) -> str:
    names = WORDS if "detail" in fields else WORDS[:-2]
    return GAP.join([fields[name] for name in names])


def faultless(rows: Sequence[Row], head: Head) -> list[str] | None:
    """The hashes of rows that are the entries after `head`, or None when anything is off: then `fault_of` says what.

    A page at a time: this is what the speed of verifying is.
    """
    joined = b"[" + b",".join([row.entry for row in rows]) + b"]"
    try:
        listed = json.loads(joined)
    except (ValueError, RecursionError):
        return None
    if len(listed) != len(rows) or json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode() != joined:
        return None  # not JSON's only spelling: a key stands twice, or there is a space
    hashes, seq, before = [], head.seq, head.hash
    for row, fields in zip(rows, listed, strict=True):
        seq += 1
        if tuple(fields) not in _KEYS or (fields["seq"], fields["previous"], row.seq) != (seq, before, seq):
            return None
        before = hashlib.sha256(row.entry).hexdigest()
        if columns_of(fields, before) != row.columns:
            return None
        hashes.append(before)
    return hashes


def fault_of(row: Row, head: Head) -> str | None:
    """Why a stored row is not the entry after `head`, or None. Everything is read from its bytes."""
    if row.seq != head.seq + 1:
        return "it is missing" if row.seq > head.seq else "it stands twice"
    try:
        fields = parse_json(row.entry)
    except BadJson as error:
        return f"its bytes cannot be read: {error}"[:300]
    if not isinstance(fields, dict) or tuple(fields) not in _KEYS or canonical(fields) != row.entry:
        return "its bytes are no entry of the audit"
    if (fields["seq"], fields["previous"]) != (head.seq + 1, head.hash):
        return f"it does not continue entry {head.seq}" if head.seq >= 0 else "it is not a first entry"
    if columns_of(fields, sha256(row.entry)) != row.columns:
        return "its columns do not say what its bytes say"
    return None
