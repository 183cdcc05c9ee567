"""The call audit's entries: one chain, each entry committing to the one before it (rule 17). Pure."""

import json
import re
from collections.abc import Mapping
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


def fault_of(row: Mapping[str, Any], head: Head) -> str | None:
    """Why a stored row is not the entry after `head`, or None. Everything is read from its bytes."""
    try:
        fields = parse_json(row["entry"])
    except BadJson as error:
        return f"its bytes cannot be read: {error}"[:300]
    if not isinstance(fields, dict) or fields.keys() - {"previous"} not in (FIELDS, FIELDS_BEFORE):
        return "its bytes are no entry of the audit"
    if row["seq"] != head.seq + 1:
        return f"entry {head.seq + 1} is missing" if row["seq"] > head.seq else "it stands twice"
    if (fields["seq"], fields.get("previous")) != (head.seq + 1, head.hash):
        return f"it does not continue entry {head.seq}" if head.seq >= 0 else "it is not a first entry"
    stated = (row["hash"], row["previous"], str(row["entry_id"]))
    if stated != (sha256(row["entry"]), head.hash, fields["entry_id"]) or not row.get("agrees", True):
        return "its columns do not say what its bytes say"
    return None
