"""The call audit's entries: one chain, each entry committing to the one before it (rule 17). Pure."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from schemas.connectors.v1 import CallAudited
from schemas.text import BadJson, canonical, parse_json, sha256

FIRST = "0" * 64


class Head(NamedTuple):
    """The newest entry's place and hash; the empty audit is at -1."""

    seq: int = -1
    hash: str = FIRST


@dataclass(frozen=True)
class Entry:
    """One link: `bytes_` is the RFC 8785 form of all fields with the place and the previous hash, `hash` its SHA-256."""

    seq: int
    bytes_: bytes
    hash: str
    previous: str


def make_entry(call: CallAudited, head: Head) -> Entry:
    """The entry after `head`. `call.seq` is its place."""
    assert call.seq == head.seq + 1
    raw = canonical(call.model_dump(mode="json") | {"previous": head.hash})
    return Entry(call.seq, raw, sha256(raw), head.hash)


def fault_of(row: dict[str, Any], head: Head) -> str | None:
    """Why a stored row is not the entry after `head`, or None. Everything is read from its bytes."""
    try:
        fields = parse_json(row["entry"])
        call = CallAudited.model_validate({name: value for name, value in fields.items() if name != "previous"})
    except (BadJson, ValueError, AttributeError) as error:
        return f"its bytes cannot be read: {error}"[:300]
    if (call.seq, fields.get("previous")) != (head.seq + 1, head.hash):
        return f"it does not continue entry {head.seq}"
    if (row["seq"], row["entry_id"], row["hash"]) != (call.seq, call.entry_id, sha256(row["entry"])):
        return "its columns do not say what its bytes say"
    return None
