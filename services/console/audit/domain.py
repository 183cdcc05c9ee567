"""What may be asked of the audit view."""

from dataclasses import dataclass
from datetime import date, timedelta

from shared.errors import Refused

MAX_SEARCH = 500


@dataclass(frozen=True)
class Search:
    """Exact substring `q` and exact fields; `start` and `end` are days in UTC, both included. Empty means any."""

    q: str = ""
    connector: str = ""
    asker: str = ""
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
