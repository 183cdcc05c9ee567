"""Time zones as browsers name them (rule 6). No framework."""

import re
import zoneinfo
from functools import lru_cache

UTC = "UTC"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+){0,3}")
LONGEST = 64


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    """Without what stands for this machine's own zone, or for none."""
    return frozenset(zoneinfo.available_timezones()) - {"localtime", "Factory"}


def is_zone(name: str) -> bool:
    """Whether it is an IANA name that this machine can reckon with."""
    return len(name) <= LONGEST and _NAME.fullmatch(name) is not None and name in _known()


def replaced(name: str, kept: str | None) -> str:
    """What stands for a zone that there is none of: the account's last valid one, or UTC."""
    return kept if kept is not None and is_zone(kept) else UTC
