"""The key files: one a key, 0600, in the folder that only the console's OS user can enter (S3).

`decision.key` came with the installation; the others are `decision-<key id>.key`. A file without a row in the database is what
a crash left of a rotation that never began: no one but this folder knows the key.
"""

import base64
import os
import secrets
from pathlib import Path

from services.console.keys import store
from shared.db import Tx
from shared.errors import Transient
from shared.signing import SigningKey


class KeyRing:
    """Reads, makes and deletes the files. Which key signs, the database says."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, SigningKey] = {}

    async def signing(self, tx: Tx) -> SigningKey:
        """The key that signs in this transaction."""
        return self.get(await store.signing_key_id(tx))

    def first(self) -> SigningKey:
        """The installation's key."""
        return SigningKey.load(self._first)

    def get(self, key_id: str) -> SigningKey:
        """Transient when its file is gone: somebody has to put it back."""
        if key_id not in self._loaded:
            path = self._path(key_id)
            if path is None:
                raise Transient(f"the file of decision key {key_id} is missing in {self._folder}", code="no_key")
            self._loaded[key_id] = SigningKey.load(path)
        return self._loaded[key_id]

    def make(self) -> SigningKey:
        """A new key. Its file is whole and durable when this returns."""
        seed = secrets.token_bytes(32)
        key = SigningKey(seed)
        fresh = self._folder / "decision.new"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(base64.b64encode(seed))
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self._named(key.key_id))
        self._sync()
        return key

    def delete(self, key_id: str) -> None:
        """Forget a key; nothing happens when it is gone already."""
        self._loaded.pop(key_id, None)
        path = self._path(key_id)
        if path is not None:
            path.unlink()
            self._sync()

    @property
    def _first(self) -> Path:
        return self._folder / "decision.key"

    def _named(self, key_id: str) -> Path:
        return self._folder / f"decision-{key_id}.key"

    def _path(self, key_id: str) -> Path | None:
        if self._named(key_id).exists():
            return self._named(key_id)
        return self._first if self._first.exists() and self.first().key_id == key_id else None

    def _sync(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
