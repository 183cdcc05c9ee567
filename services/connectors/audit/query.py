"""What may be asked of the call audit, and how it is checked. Every text means itself: no pattern, no wildcard."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, get_args
from uuid import UUID

from schemas.text import text_fault
from services.connectors.audit.domain import Outcome
from shared.errors import Refused

MOST_TEXT = 500
"""Characters of a search."""
MOST = 200
"""Entries of one answer; an export takes more."""
EXACT = ("asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "trace_id")
"""Fields that are compared whole, `target` by how it begins. `outcome` also knows `bad`: refused, failed or lost."""
OUTCOMES = ("bad", *get_args(Outcome))


@dataclass(frozen=True)
class Query:
    """`q` is looked for in all texts of an entry. `exact`: field and value. From `since` (with it) to `until` (without it); numbers below `before`."""

    q: str = ""
    exact: tuple[tuple[str, str], ...] = ()
    call_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None
    limit: int = 50

    def only(self, **exact: str) -> "Query":
        """Narrowed; what was asked for these fields does not widen it."""
        return replace(self, exact=(*self.exact, *exact.items()))


def read_query(asked: Mapping[str, Any], most: int = MOST) -> Query:
    """Refused for an unknown parameter (S10), a text that is too long, a time or number that is none."""
    known = {"q", "call_id", "since", "until", "before", "limit", *EXACT}
    unknown = sorted(set(asked) - known)
    if unknown:
        raise Refused(f"a search of the audit knows no {', '.join(unknown)}; it knows {', '.join(sorted(known))}", code="unknown_parameter")  # fmt: skip
    texts = {name: check_text(name, asked[name]) for name in ("q", *EXACT) if asked.get(name) not in (None, "")}
    if (outcome := texts.get("outcome")) and outcome not in OUTCOMES:
        raise Refused(f"there is no result {outcome[:40]!r}; there are {', '.join(OUTCOMES)}", code="search")
    return Query(
        q=texts.pop("q", ""),
        exact=tuple(texts.items()),
        call_id=_uuid(asked.get("call_id")),
        since=read_time(asked.get("since")),
        until=read_time(asked.get("until"), end=True),
        before=_number("before", asked.get("before"), 2**62),
        limit=_number("limit", asked.get("limit"), most) or min(50, most),
    )


def check_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(f"{name} must be a text", code="search")
    if len(value) > MOST_TEXT:
        raise Refused(f"A search has at most {MOST_TEXT} characters; this one has {len(value)}.", code="search")
    fault = text_fault(value)
    if fault:
        raise Refused(f"{name}: {fault}", code="search")
    return value


def read_time(value: Any, *, end: bool = False) -> datetime | None:
    """`2026-11-29`, which is the whole day in UTC, or a time with its offset."""
    if value in (None, ""):
        return None
    try:
        found = datetime.fromisoformat(str(value))
        if len(str(value)) == len("2026-11-29"):
            return datetime.combine(found.date(), time(), UTC) + (timedelta(days=1) if end else timedelta())
        if found.tzinfo is None:
            raise Refused(f"{str(value)[:40]!r} needs its offset, for UTC a Z", code="time")
        return found.astimezone(UTC)
    except (ValueError, OverflowError):  # the day after the last one, or an offset that leads out of the calendar
        raise Refused(
            f"{str(value)[:40]!r} is no time; write 2026-11-29 or 2026-11-29T14:00:00Z", code="time"
        ) from None


def _number(name: str, value: Any, most: int) -> int | None:
    if value in (None, ""):
        return None
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):  # a number without end, among others
        found = -1
    if not 0 <= found <= most:
        raise Refused(f"{name} is a number from 0 to {most}", code="search")
    return found


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(str(value)) if value not in (None, "") else None
    except ValueError:
        raise Refused(f"{str(value)[:60]!r} is no call's id", code="search") from None
