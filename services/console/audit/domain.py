"""What may be asked of the audit view, and whether what came is one chain. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from schemas.connectors import v1, v2
from schemas.statements import FIRST
from schemas.text import canonical, sha256
from shared.errors import Refused

MAX_SEARCH = 500
FIELDS = tuple(sorted(set(v2.CallAudited.model_fields) - {"hash"}))
FIELDS_BEFORE = tuple(sorted(v1.CallAudited.model_fields))
"""What the first version of an entry said; the console has no hash of those."""
LATE = timedelta(minutes=2)
"""An entry that is still not there when the one after it is so old will not come by itself."""


@dataclass(frozen=True)
class Search:
    """Exact substring `q`, how the target begins, and exact fields; `start` and `end` are days in UTC, both included. Empty means any."""

    q: str = ""
    connector: str = ""
    asker: str = ""
    owner: str = ""
    target: str = ""
    status: str = ""
    result: str = ""
    start: date | None = None
    end: date | None = None
    page: int = 1

    @property
    def before(self) -> date | None:
        return self.end + timedelta(days=1) if self.end and self.end < date.max else None


def check_search(q: str) -> str:
    """Refused when the text is longer than 500 characters or holds a NUL. `%` and `_` mean themselves."""
    if len(q) > MAX_SEARCH:
        raise Refused(f"A search has at most {MAX_SEARCH} characters; this one has {len(q)}.", code="search")
    if "\x00" in q:
        raise Refused("A search cannot hold a NUL character.", code="search")
    return q


def check_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refused(f"{text[:20]!r} is no date; write 2026-11-29.", code="date") from None


class Head(NamedTuple):
    """How far the copy is one chain: the newest entry's number and hash."""

    seq: int = -1
    hash: str = FIRST


def hash_of(row: Mapping[str, Any], previous: str) -> str:
    """The hash that an entry with these fields has after that one, as the connectors made it."""
    names = FIELDS if row["hash"] is not None else FIELDS_BEFORE
    return sha256(canonical({name: _plain(row[name]) for name in names} | {"previous": previous}))


def _plain(value: Any) -> Any:
    match value:
        case None | int() | str():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return str(value)


def follow(head: Head, row: Mapping[str, Any], present: datetime) -> Head | str | None:
    """The head after this row; why it is not the next entry; or None: what comes before it has not arrived yet."""
    if row["seq"] > head.seq + 1:
        return f"it is missing here, and entry {row['seq']} is there" if present - row["at"] > LATE else None
    if row["seq"] <= head.seq:
        return f"entry {row['seq']} is there twice"
    found = hash_of(row, head.hash)
    if row["hash"] is not None and row["hash"] != found:
        return "it is not what its hash says, or it does not continue the entry before it"
    return Head(row["seq"], found)
