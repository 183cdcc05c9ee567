"""At most 30 signals a minute per pseudonym (rule 25), counted over the last 60 seconds, not per calendar minute."""

import time
from collections import deque
from collections.abc import Callable

from services.site.signals.domain import PER_MINUTE

WINDOW = 60.0
MAX_VISITORS = 50_000
"""Pseudonyms remembered at once; beyond that those that were quiet longest are forgotten."""


class RateLimit:
    """`counted` are told each signal that was let in, with its number, for other instances to `note`."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._seen: dict[str, deque[float]] = {}
        self._number = 0
        self.counted: list[Callable[[str, int], None]] = []

    def wait(self, visitor: str) -> int:
        """0 when one more signal is within the limit (it is then counted); else the seconds until one is."""
        present, times = self._elapsed(), self._times(visitor)
        if len(times) == PER_MINUTE and present - times[0] < WINDOW:
            return int(WINDOW - (present - times[0])) + 1
        times.append(present)
        self._number += 1
        for listener in self.counted:
            listener(visitor, self._number)
        return 0

    def note(self, visitor: str) -> None:
        """Another instance counted one."""
        self._times(visitor).append(self._elapsed())

    def _times(self, visitor: str) -> deque[float]:
        times = self._seen.pop(visitor, None) or deque(maxlen=PER_MINUTE)
        self._seen[visitor] = times
        if len(self._seen) > MAX_VISITORS:
            del self._seen[next(iter(self._seen))]
        return times
