"""Votes per item, as pages show them. A page is rendered anew at most every few seconds, however many vote."""

import time
from collections.abc import Callable
from uuid import UUID

from services.site.signals.store import Tally

EVERY = 5.0
_NONE = Tally()


class Tallies:
    """`stale` is told the items whose pages show old counts."""

    def __init__(self) -> None:
        self._by_item: dict[UUID, Tally] = {}
        self._stale: set[UUID] = set()
        self._told = float("-inf")
        self.stale: Callable[[set[UUID]], None] = lambda items: None

    def of(self, item_id: UUID) -> Tally:
        return self._by_item.get(item_id, _NONE)

    def update(self, found: dict[UUID, Tally]) -> None:
        for item_id, tally in found.items():
            if self.of(item_id) != tally:
                self._by_item[item_id] = tally
                self._stale.add(item_id)

    def tick(self) -> None:
        if self._stale and time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            stale, self._stale = self._stale, set()
            self.stale(stale)
