"""How many calls each asker may make through each connector in a minute. Pure."""

from collections import deque

from shared.errors import TooMany

MINUTE = 60.0


class Rates:
    """In memory, of this instance: `share` of them divide what is allowed."""

    def __init__(self, share: int = 1) -> None:
        self._share = share
        self._made: dict[tuple[str, str], deque[float]] = {}

    def admit(self, asker: str, connector: str, per_minute: int, at: float) -> None:
        """Count one call at `at` (seconds). TooMany names the limit and the wait; a refused call does not count."""
        allowed = -(-per_minute // self._share)
        made = self._made.setdefault((asker, connector), deque())
        while made and made[0] <= at - MINUTE:
            made.popleft()
        if len(made) >= allowed:
            wait = made[0] + MINUTE - at
            raise TooMany(
                f"{asker} has made its {per_minute} calls a minute through {connector}; the next may go in {wait:.0f} s",
                code="rate_limit",
            )
        made.append(at)
