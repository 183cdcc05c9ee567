"""Votes per item, as pages show them. A page is rendered anew at most every few seconds, however many vote."""

import time
from collections.abc import Callable, Collection
from uuid import UUID

from services.site.signals.store import ByAudience, Tally

EVERY = 5.0
_NONE = Tally()


class Tallies:
    """`listeners` are told the items whose pages show old counts; `voted` is called when a count is new."""

    def __init__(self) -> None:
        self._by_item: dict[UUID, ByAudience] = {}
        self._stale: set[UUID] = set()
        self._told = float("-inf")
        self.listeners: list[Callable[[set[UUID]], None]] = []
        self.voted: list[Callable[[], None]] = []

    def of(self, item_id: UUID, sees: Collection[str]) -> Tally:
        """The votes that were cast while the item was for one of these audiences."""
        by_audience = self._by_item.get(item_id, {})
        return sum((tally for audience, tally in by_audience.items() if audience in sees), _NONE)

    def update(self, found: dict[UUID, ByAudience]) -> None:
        changed = {item_id for item_id, by_audience in found.items() if self._by_item.get(item_id, {}) != by_audience}
        self._by_item |= {item_id: found[item_id] for item_id in changed}
        self._stale |= changed
        for listener in self.voted if changed else ():
            listener()

    def tick(self) -> None:
        if self._stale and time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            stale, self._stale = self._stale, set()
            for listener in self.listeners:
                listener(stale)
