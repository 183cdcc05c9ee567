"""Visitors' interactions (rules 25, 30a): pseudonyms, form tokens, and how signals are packed. Pure."""

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

MAX_PER_EVENT = 100
MAX_EVENT_BYTES = 256 * 1024
MAX_FEEDBACK = 4000
PER_MINUTE = 30
TOKEN_LENGTH = 32
_LEAVING = UUID(int=0)
"""In place of an item in the token of the form that signs out."""


def pseudonym(day_key: bytes, *who: str) -> str:
    """16 hex digits for a visitor of one day. Without the day's key nobody can tell who it was."""
    return hmac.digest(day_key, "|".join(who).encode("utf-8", "surrogateescape"), "sha256").hex()[:16]


def derived_day_key(secret: bytes, day: str) -> bytes:
    """The key of a past day of a log: needs no storage and is gone with the process."""
    return hmac.digest(secret, day.encode(), "sha256")


@dataclass
class FormTokens:
    """A token shows that a form came from a page of ours. It is the same for all visitors, so that pages can be cached.

    `key` is the installation's own, read from the database at start.
    """

    key: bytes = b""

    def make(self, item_id: UUID, day: date) -> str:
        return hmac.digest(self.key, f"{item_id}|{day.isoformat()}".encode(), "sha256").hex()[:TOKEN_LENGTH]

    def leaving(self, day: date) -> str:
        """The token of the form that signs out."""
        return self.make(_LEAVING, day)

    def is_leaving(self, token: str, day: date) -> bool:
        return self.is_good(token, _LEAVING, day)

    def is_good(self, token: str, item_id: UUID, day: date) -> bool:
        """Of today, or of a day beside it: a page stays open over midnight, and clocks are set."""
        given = token.encode("utf-8", "replace")
        days = (day, day - timedelta(days=1), day + timedelta(days=1))
        return any(hmac.compare_digest(given, self.make(item_id, each).encode()) for each in days)


def packed(signals: Iterable[bytes], per_event: int = MAX_PER_EVENT) -> Iterator[list[bytes]]:
    """Groups of at most `per_event` JSON objects and 256 KiB, in order."""
    group: list[bytes] = []
    size = 0
    for each in signals:
        if group and (len(group) >= per_event or size + len(each) > MAX_EVENT_BYTES):
            yield group
            group, size = [], 0
        group.append(each)
        size += len(each) + 1
    if group:
        yield group
