"""Fingerprints of values, as the connectors make them and the lock believes them."""

from schemas.connectors.v1 import Fingerprint
from services.bridge.inspection import Known
from services.connectors.fingerprints.domain import canary, fingerprints
from shared.fingerprints import FingerprintKey

KEY = FingerprintKey(bytes(range(32)))
VALUE = "sk-Zq81kVd93LmPw47TxRb20Ys"
"""What is planted as a value of the secret store."""


def known(*values: str, name: str = "") -> Known:
    """A set that counts, with these values and the canary."""
    entries: frozenset[Fingerprint] = frozenset({canary(KEY)}).union(*(fingerprints(each, KEY) for each in values))
    return Known(name or "/".join((KEY.key_id, *values)), KEY.seeking, tuple(entries))


class Fixed:
    """A source that says the same until it is told otherwise."""

    def __init__(self, *values: str) -> None:
        self.now: Known | str = known(*values)

    async def current(self) -> Known | str:
        return self.now
