"""Age: files are encrypted to recipients as they are written, and decrypted to a writer as they are read. Never the whole in memory."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import pyrage

from infra.backup.entries import fsync_folder
from shared.errors import Refused

SECRET = "AGE-SECRET-KEY-"  # noqa: S105 - what such a key begins with
FORM = b"age-encryption.org/v1\n"
_PIECE = 1024**2


class Reader(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class Writer(Protocol):
    def write(self, data: bytes, /) -> int: ...
    def flush(self) -> None: ...


@dataclass(frozen=True)
class Written:
    """A finished file: its size and SHA-256 as they lie on the disk, and the bytes that went in."""

    size: int
    sha256: str
    plain: int


class Recipients:
    """Who can read a backup. `texts` are their public keys, age1…"""

    def __init__(self, texts: Sequence[str]) -> None:
        if not texts:
            raise Refused(
                "nobody could read the backup: name a recipient with --recipient age1… (`schleuse backup keygen FILE` makes an identity and prints its recipient)",
                code="no_recipient",
            )
        self.texts = tuple(dict.fromkeys(text.strip() for text in texts))
        self._keys = [_recipient(text) for text in self.texts]

    def seal(self, data: bytes) -> bytes:
        """A small message."""
        sealed: bytes = pyrage.encrypt(data, self._keys)
        return sealed

    def write(self, source: Reader, path: Path) -> Written:
        """Encrypt a stream into a new 0600 file and sync it. OSError as the disk reports it."""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb", buffering=_PIECE) as file:
            reading, writing = _Counting(source), _Hashing(file)
            _through(pyrage.encrypt_io, reading, writing, self._keys, writing)
            file.flush()
            os.fsync(file.fileno())
        return Written(writing.size, writing.hash.hexdigest(), reading.size)


class Identities:
    """The private side: whoever holds one can read what was encrypted to its recipient."""

    def __init__(self, keys: Sequence[object]) -> None:
        self._keys = list(keys)

    @classmethod
    def read(cls, path: Path) -> "Identities":
        """Refused unless the file holds age identities."""
        try:
            lines = path.read_text().splitlines()
            found = [pyrage.x25519.Identity.from_str(each.strip()) for each in lines if each.startswith(SECRET)]
        except FileNotFoundError:
            raise Refused(f"there is no identity file {path}", code="identity") from None
        except (pyrage.IdentityError, UnicodeDecodeError) as error:
            raise Refused(f"{path} holds no readable age identity: {error}", code="identity") from None
        if not found:
            raise Refused(f"{path} holds no age identity (a line {SECRET}1…)", code="identity")
        return cls(found)

    def open(self, sealed: bytes, what: str) -> bytes:
        try:
            found: bytes = pyrage.decrypt(sealed, self._keys)
        except pyrage.DecryptError as error:
            raise _unreadable(what, error) from None
        return found

    def pour(self, path: Path, into: Writer) -> None:
        """Decrypt a file into a writer. What the writer raises passes through; Refused when these identities cannot read it."""
        with path.open("rb", buffering=_PIECE) as file:
            pouring = _Pouring(into)
            try:
                _through(pyrage.decrypt_io, file, pouring, self._keys, pouring)
            except (pyrage.DecryptError, OSError) as error:
                if pouring.fault is not None:
                    raise pouring.fault from None
                raise _unreadable(path.name, error) from None


def make_identity(path: Path) -> str:
    """A new identity in a 0600 file that did not exist; its recipient."""
    identity = pyrage.x25519.Identity.generate()
    recipient = str(identity.to_public())
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise Refused(f"{path} exists; an identity is never overwritten", code="exists") from None
    with os.fdopen(handle, "w") as file:
        file.write(f"# recipient: {recipient}\n{identity}\n")
        file.flush()
        os.fsync(file.fileno())
    fsync_folder(path.parent)
    return recipient


def read_recipients(path: Path) -> list[str]:
    """One a line; empty lines and # lines do not count. An identity file is refused: it is no place for one."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    if any(line.startswith(SECRET) for line in lines):
        raise Refused(f"{path} holds an identity; a list of recipients holds age1… lines only", code="identity")
    return [line for line in lines if line and not line.startswith("#")]


def _recipient(text: str) -> object:
    if text.startswith(SECRET):
        raise Refused("an identity was named as recipient; name its public half, age1…", code="recipient")
    if not re.fullmatch(r"age1[0-9a-z]{10,}", text):
        raise Refused(f"{text[:20]!r} is no age recipient (age1…)", code="recipient")
    try:
        return pyrage.x25519.Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise Refused(f"{text[:20]}… is no age recipient: {error}", code="recipient") from None


def _unreadable(what: str, error: Exception) -> Refused:
    text = str(error)
    if "No matching keys" in text or "no matching" in text.lower():
        return Refused(
            f"{what} was encrypted to others: this identity cannot read it. Nothing was changed.", code="identity"
        )
    return Refused(f"{what} is damaged and cannot be decrypted ({text}). Nothing was changed.", code="damaged")


class _Counting:
    """A reader that remembers what its source raised: the library only passes on a text."""

    def __init__(self, source: Reader) -> None:
        self._source = source
        self.size = 0
        self.fault: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        try:
            found = self._source.read(size)
        except BaseException as error:
            self.fault = error
            raise
        self.size += len(found)
        return found


class _Hashing:
    def __init__(self, file: BinaryIO) -> None:
        self._file, self.hash, self.size = file, hashlib.sha256(), 0
        self.fault: BaseException | None = None

    def write(self, data: bytes) -> int:
        try:
            self._file.write(data)
        except BaseException as error:
            self.fault = error
            raise
        self.hash.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        try:
            self._file.flush()
        except BaseException as error:
            self.fault = error
            raise


class _Pouring:
    """Small pieces are joined: a pipe likes large ones."""

    def __init__(self, into: Writer) -> None:
        self._into, self._held = into, bytearray()
        self.fault: BaseException | None = None

    def write(self, data: bytes) -> int:
        self._held += data
        if len(self._held) >= _PIECE:
            self._out()
        return len(data)

    def flush(self) -> None:
        self._out()

    def _out(self) -> None:
        held, self._held = bytes(self._held), bytearray()
        try:
            if held:
                self._into.write(held)
            self._into.flush()
        except BaseException as error:
            self.fault = error
            raise


def _through(work: object, reading: object, writing: object, keys: list[object], last: object) -> None:
    """Run the library's stream; what our own side raised is raised as it was."""
    try:
        work(reading, writing, keys)  # type: ignore[operator]
        writing.flush()  # type: ignore[attr-defined]
    except pyrage.EncryptError:
        for side in (reading, last):
            fault = getattr(side, "fault", None)
            if fault is not None:
                raise fault from None
        raise
