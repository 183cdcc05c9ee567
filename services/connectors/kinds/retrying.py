"""When a call is tried again, and after how long. Pure but for the jitter."""

import email.utils
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.connectors.kinds.failures import UNSENT
from shared.errors import SchleuseError, Transient

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods whose second sending does no harm (RFC 9110, 9.2.2)."""
TURNED_AWAY: Final = frozenset({429, 503, 529})
"""Not now: the other side says that it did nothing."""
STUMBLED: Final = frozenset({408, 500, 502, 504})
"""It may have done something."""
FIRST_S, LONGEST_S = 0.5, 8.0


@dataclass(frozen=True)
class Retrying:
    """`most` tries after the first, with growing waits in which all of them fit into the call's time."""

    most: int = 2

    def after_status(
        self, tried: int, method: str, status: int, headers: Mapping[str, str], at: datetime, left_s: float
    ) -> float | None:
        """Seconds to wait before the next try, or None: give the answer as it is. `left_s`: what is left of the call's time."""
        again = status in TURNED_AWAY or (status in STUMBLED and method in SAFE)
        if not again or tried >= self.most:
            return None
        return _fitting(retry_after(headers, at), tried, left_s)

    def after_error(self, tried: int, method: str, error: SchleuseError, left_s: float) -> float | None:
        """The same for a failure. What was never sent may be sent, whatever it is."""
        again = isinstance(error, Transient) and (error.code in UNSENT or method in SAFE)
        return _fitting(None, tried, left_s) if again and tried < self.most else None


def retry_after(headers: Mapping[str, str], at: datetime) -> float | None:
    """Seconds that the other side asks to wait for: `Retry-After`, a number or a date. None when it does not say so readably."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, (email.utils.parsedate_to_datetime(said) - at).total_seconds())
    except (ValueError, TypeError, OverflowError):  # an offset of any length is read
        return None


def _fitting(asked: float | None, tried: int, left_s: float) -> float | None:
    """What the other side asks for, else a growing wait; the jitter keeps many askers from coming back at once."""
    wait = asked if asked is not None else random.uniform(0.5, 1.0) * min(LONGEST_S, FIRST_S * 2.0**tried)  # noqa: S311 - no secret
    return wait if wait < left_s else None
