"""Keyed fingerprints of secret values (S14): the connectors make them, and the lock finds the values without ever having had one.

Both have the same key, made anew at every start and saved nowhere else. Whoever has a set without its key learns the values' lengths; whoever
looks for values gets a key that was derived for it, with which no set can be made.
"""

import base64
import binascii
from hashlib import blake2b
from pathlib import Path

from schemas.connectors.v1 import FingerprintsTaken
from schemas.text import canonical
from shared.errors import Transient

WINDOW = 12
"""Bytes of a value by which it is first found. Shorter values have no fingerprint."""
KEY_BYTES = 32
CANARY = 40
"""Characters of the value that every set holds, so that looking for it shows that values are found."""


def first_of(seeking: bytes, window: bytes) -> bytes:
    """8 bytes for the first WINDOW bytes of a value."""
    return blake2b(window, digest_size=8, key=seeking).digest()


def whole_of(seeking: bytes, value: bytes) -> bytes:
    """16 bytes for all of it."""
    return blake2b(value, digest_size=16, key=seeking, person=b"whole").digest()


class FingerprintKey:
    """`seeking` finds values; only the key itself signs for a set."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.key_id = blake2b(key=raw, digest_size=8, person=b"name").hexdigest()
        self.seeking = blake2b(key=raw, digest_size=KEY_BYTES, person=b"seek").digest()
        self.canary = base64.b32encode(blake2b(key=raw, digest_size=25, person=b"canary").digest()).decode()

    @classmethod
    def load(cls, folder: Path) -> "FingerprintKey":
        """From a service's key folder. Transient while a start is just writing it."""
        try:
            raw = base64.b64decode((folder / "fingerprint.key").read_text().strip(), validate=True)
        except (OSError, binascii.Error, UnicodeDecodeError) as error:
            raise Transient(
                f"the fingerprint key cannot be read: {type(error).__name__}", code="fingerprints"
            ) from None
        if len(raw) != KEY_BYTES:
            raise Transient("the fingerprint key is not whole; a start writes it anew", code="fingerprints")
        return cls(raw)

    def mac(self, taken: FingerprintsTaken) -> str:
        """What `taken.mac` must be: whoever made this set has the key."""
        content = canonical(taken.model_dump(mode="json", exclude={"mac"}))
        return blake2b(content, digest_size=32, key=self._raw, person=b"set").hexdigest()

    def __repr__(self) -> str:
        return f"FingerprintKey({self.key_id})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written down")
