"""Identifiers: uuid7 for events and rows (sorted by time), uuid4 for what outsiders see, uuid5 for items."""

import os
import secrets
import time
import uuid
from uuid import UUID

_ITEMS = UUID("6f1d7d1e-5c1b-5e6a-9a53-736368657573")
_last = 0


def new_id() -> UUID:
    """A UUID version 7 (RFC 9562): milliseconds, then a counter's twelve bits, then 62 random bits.

    Strictly increasing within a process, also while the clock stands still or steps back.
    """
    global _last  # noqa: PLW0603 - the process's own counter is the point
    ticks = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
    _last = ticks
    milliseconds, counter = divmod(ticks, 4096)
    value = (milliseconds & (2**48 - 1)) << 80 | 7 << 76 | counter << 64
    return UUID(int=value | 2 << 62 | int.from_bytes(os.urandom(8), "big") >> 2)


def fresh_id() -> UUID:
    """A random UUID that says nothing about when it was made: for ids that outsiders see (S14)."""
    return uuid.uuid4()


def item_id(kind: str, lang: str, path: str) -> UUID:
    """An item's id. An item *is* (kind, lang, path), so every service computes the same id without asking."""
    return uuid.uuid5(_ITEMS, f"{kind}/{lang}/{path}")


def new_token() -> str:
    """A secret of 256 random bits for links, sessions and forms."""
    return secrets.token_urlsafe(32)
