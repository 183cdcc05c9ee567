"""The folder of sealed secrets: one age file a version, named by its hash. Opened for one call at a time, never kept open."""

import asyncio
import errno
import os
from contextlib import suppress
from pathlib import Path

from schemas.outward import SecretChange
from schemas.text import sha256
from services.connectors.book.domain import Secret
from services.connectors.secrets.types import SecretValue
from shared.errors import Permanent, Refused, Transient
from shared.ids import new_token
from shared.sealing import Identity, Unsealed, unseal

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Vault:
    """`folder` is the connectors' own (0700)."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._folder, self._identity = folder, identity

    async def keep(self, sealed: bytes) -> str:
        """The hash that it is kept under; whole and durable when this returns. Transient (`disk`) when it cannot be written."""
        return await asyncio.to_thread(self._keep, sealed)

    async def open(self, secret: Secret, number: int) -> SecretValue:
        """The value of one version. Permanent (`secret_unreadable`) when the file is missing, altered, or was sealed for another place."""
        version = secret.version(number)
        if version is None or version.revoked:
            raise Refused(f"version {number} of secret {secret.place} was revoked", code="secret_revoked")
        raw = await asyncio.to_thread(self._read, version.sealed_hash, f"{secret.place} v{number}")
        found = unseal(self._identity, raw)
        if (found.place, found.type) != (secret.place, secret.type):
            raise Permanent(
                f"the file of secret {secret.place} was sealed for another place; rotate it", code="secret_unreadable"
            )
        return SecretValue(secret.place, secret.type, number, found.fields.opened())

    def examine(self, sealed: bytes, change: SecretChange) -> Unsealed:
        """A new version as it arrives: it opens, and was sealed for what its statement says. Refused or Permanent otherwise."""
        if sha256(sealed) != change.sealed_hash:
            raise Refused("the sealed value is not the one that was signed for", code="sealed_hash")
        found = unseal(self._identity, sealed)
        if (found.place, found.type) != (change.place, change.type):
            raise Refused(f"the value was sealed for another place than {change.place}", code="sealed_place")
        if found.fields.public() != change.public:
            raise Refused(
                f"what may be shown of {change.place} is not what was sealed; put it again", code="sealed_public"
            )
        return found

    def remove(self, sealed_hash: str) -> bool:
        """A revoked version's file is gone for good. Whether there was one."""
        with suppress(FileNotFoundError):
            self._path(sealed_hash).unlink()
            return True
        return False

    def hashes(self) -> frozenset[str]:
        """Of every file in the folder."""
        return frozenset(path.stem for path in self._folder.glob("*.age"))

    def age(self, sealed_hash: str) -> float:
        """When its file was written, seconds since 1970; 0 when there is none."""
        with suppress(FileNotFoundError):
            return self._path(sealed_hash).stat().st_mtime
        return 0.0

    def _path(self, sealed_hash: str) -> Path:
        return self._folder / f"{sealed_hash}.age"

    def _keep(self, sealed: bytes) -> str:
        name = sha256(sealed)
        fresh = self._folder / f".{name[:16]}.{new_token()[:8]}"
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(sealed)
                file.flush()
                os.fsync(file.fileno())
            fresh.rename(self._path(name))
            self._sync()
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            why = "no room is left on its disk" if error.errno in FULL else str(error.strerror)
            raise Transient(
                f"a secret cannot be kept in {self._folder}: {why}; it is tried again", code="disk"
            ) from None
        return name

    def _read(self, sealed_hash: str, label: str) -> bytes:
        try:
            raw = self._path(sealed_hash).read_bytes()
        except FileNotFoundError:
            raise Permanent(
                f"the file of secret {label} is missing; rotate the secret, or restore a backup",
                code="secret_unreadable",
            ) from None
        except OSError as error:
            raise Transient(f"the file of secret {label} cannot be read: {error.strerror}", code="disk") from None
        if sha256(raw) != sealed_hash:
            raise Permanent(
                f"the file of secret {label} is not what was kept; rotate the secret", code="secret_unreadable"
            )
        return raw

    def _sync(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
