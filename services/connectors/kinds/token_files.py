"""Access tokens between calls: sealed to the connectors themselves, one file for each version of a secret. Never in a table."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyrage
from pydantic import ValidationError

from schemas.model import Data, Instant
from schemas.text import sha256
from services.connectors.secrets.types import SecretValue
from shared.errors import Transient
from shared.ids import new_token
from shared.sealing import Identity

SUFFIX = ".token"


@dataclass(frozen=True)
class Tokens:
    """What a provider granted. `refresh`: the next refresh token, where it changes with each use. `expires_at`: None when it was not said."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: datetime | None = None


class _Kept(Data):
    label: str
    access: str
    refresh: str
    expires_at: Instant | None


class TokenFiles:
    """In the connectors' own folder of sealed secrets. What cannot be opened counts as not there: it is fetched anew."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._folder, self._identity = folder, identity

    def read(self, secret: SecretValue) -> Tokens | None:
        try:
            kept = _Kept.model_validate_json(self._identity.open(self._path(secret.label).read_bytes()))
        except (OSError, pyrage.DecryptError, ValidationError):
            return None
        return Tokens(kept.access, kept.refresh, kept.expires_at) if kept.label == secret.label else None

    def write(self, secret: SecretValue, tokens: Tokens) -> None:
        """Whole and durable when this returns. Transient (code `disk`) when it cannot be written."""
        kept = _Kept(label=secret.label, access=tokens.access, refresh=tokens.refresh, expires_at=tokens.expires_at)
        recipient = pyrage.x25519.Recipient.from_str(self._identity.recipient)
        sealed = pyrage.encrypt(kept.model_dump_json().encode(), [recipient])
        path = self._path(secret.label)
        fresh = path.with_name(f".{path.stem[:16]}.{new_token()[:8]}")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(sealed)
                file.flush()
                os.fsync(file.fileno())
            fresh.rename(path)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            raise Transient(
                f"an access token cannot be kept in {self._folder}: {error.strerror}", code="disk"
            ) from None

    def forget_but(self, labels: frozenset[str], before: float) -> int:
        """Remove those of secrets and versions that are no more, if they are older than `before` (seconds since 1970): another
        instance may know of a version first. How many."""
        kept = {self._path(label).name for label in labels}
        gone = [
            path for path in self._folder.glob(f"*{SUFFIX}") if path.name not in kept and path.stat().st_mtime < before
        ]
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)

    def _path(self, label: str) -> Path:
        return self._folder / f"{sha256(label.encode())[:32]}{SUFFIX}"
