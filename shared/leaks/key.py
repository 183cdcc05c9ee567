"""Keys of the leak guard (S14): the console makes fingerprints of internal values, the lock finds the values without ever having had one.

Both have the same key; a start makes it anew when it is a week old, and no backup has it. A value's mark is made with one key for all columns,
so that a text is hashed once however many columns there are; what travels and lies in the lock's database is enciphered with a key per column
and event. So the same value in two columns, or twice in one, looks like nothing in common to whoever has no key.
"""

import base64
import binascii
from collections.abc import Mapping
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from uuid import UUID

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from schemas.console.v1 import ColumnFingerprinted
from schemas.text import canonical
from shared.errors import Transient

KEY_BYTES = 32
MARK = 8
"""Bytes of a mark."""
LIST = UUID(int=0)
"""The column that is none: its marks are the list of all columns, and up to which event the lock must have each."""


class LeakKey:
    """`seeking` makes the marks of a text's words; only the key itself reads, writes and signs for a column's."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.key_id = blake2b(key=raw, digest_size=8, person=b"leak name").hexdigest()
        self.seeking = blake2b(key=raw, digest_size=KEY_BYTES, person=b"leak seek").digest()
        self.canary = blake2b(key=raw, digest_size=15, person=b"leak canary").hexdigest()

    @classmethod
    def load(cls, folder: Path) -> "LeakKey":
        """From a service's key folder. Transient while a start is just writing it."""
        try:
            raw = base64.b64decode((folder / "leaks.key").read_text().strip(), validate=True)
        except (OSError, binascii.Error, UnicodeDecodeError) as error:
            raise Transient(f"the leak guard's key cannot be read: {type(error).__name__}", code="leaks") from None
        if len(raw) != KEY_BYTES:
            raise Transient("the leak guard's key is not whole; a start writes it anew", code="leaks")
        return cls(raw)

    def sealed(self, column: UUID, sequence: int, added: bytes, removed: bytes) -> tuple[bytes, bytes]:
        """What an event may carry of these marks."""
        return self._cipher(column, sequence, b"+", added), self._cipher(column, sequence, b"-", removed)

    def opened(self, told: ColumnFingerprinted) -> tuple[bytes, bytes]:
        """The marks that it adds, and those that it takes back."""
        return self.sealed(told.column_id, told.sequence, told.added, told.removed)

    def _cipher(self, column: UUID, sequence: int, part: bytes, data: bytes) -> bytes:
        """Enciphers and deciphers. `part` tells the lists of one event apart; no key is used for two of them."""
        about = part + column.bytes + sequence.to_bytes(8)
        once = blake2b(about, digest_size=KEY_BYTES, key=self._raw, person=b"leak column").digest()
        return Cipher(ChaCha20(once, bytes(16)), mode=None).encryptor().update(data)

    def mac(self, told: ColumnFingerprinted) -> str:
        """What `told.mac` must be: whoever made this event has the key."""
        content = canonical(told.model_dump(mode="json", exclude={"mac"}))
        return blake2b(content, digest_size=32, key=self._raw, person=b"leak event").hexdigest()

    def __repr__(self) -> str:
        return f"LeakKey({self.key_id})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written down")


def believes(told: ColumnFingerprinted, key: LeakKey) -> bool:
    """Whether it was made with this key, all of it."""
    return told.key_id == key.key_id and compare_digest(told.mac, key.mac(told))


def write_list(columns: Mapping[UUID, int]) -> bytes:
    """The marks of LIST: each column, and the number of its newest event."""
    return b"".join(column.bytes + sequence.to_bytes(MARK) for column, sequence in sorted(columns.items()))


def read_list(raw: bytes) -> dict[UUID, int]:
    size = 16 + MARK
    pieces = (raw[at : at + size] for at in range(0, len(raw), size))
    return {UUID(bytes=each[:16]): int.from_bytes(each[16:]) for each in pieces}
