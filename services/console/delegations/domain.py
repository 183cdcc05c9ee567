"""How long the agent may act for somebody, and what it may do. No framework."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

from schemas.operations import OPERATIONS, OWN_AUDIT

LIFE = timedelta(hours=12)
RENEW = timedelta(hours=6)
"""What is left of its life when another is issued, for whoever is signed in or has a key."""
AUDIENCE: Literal["agent"] = "agent"


def operations_of(connectors: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Every operation of every declared connector (name, kind), as `connector.operation`."""
    found = {f"{name}.{each}" for name, kind in connectors for each in OPERATIONS.get(kind, ())}
    return tuple(sorted(found | {OWN_AUDIT}))
