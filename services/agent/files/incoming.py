"""A file that is coming in: written under a hidden name of its own, and given its name when all of it is there.

Whoever writes holds a lock on it, so that others know which such files a crash has left. All of it blocks: it runs in threads.
"""

import fcntl
import hashlib
import os
from contextlib import suppress

from services.agent.files.domain import MOST_UPLOAD, PART, full, too_large
from services.agent.memory import beneath
from shared.errors import Away
from shared.ids import fresh_id

FLUSHED = 16 * 1024 * 1024
"""Bytes after which what was written goes to the disk, so that the end has little left to do."""


class Incoming:
    """`home`: the owner's folder, for the moment. `room`: bytes that the workspace still takes; `spare`: bytes that stay free on the disk."""

    def __init__(self, home: int, room: int, spare: int) -> None:
        self._room, self._spare, self._behind = room, spare, 0
        self._hash, self.size = hashlib.sha256(), 0
        self.name, self.descriptor = _part(home)

    @property
    def content_hash(self) -> str:
        return self._hash.hexdigest()

    def write(self, piece: bytes) -> None:
        """TooLarge, Away (the disk is full)."""
        self.size += len(piece)
        if self.size > MOST_UPLOAD:
            raise too_large()
        if self.size > self._room:
            raise full()
        with beneath.named_errors():
            if not has_free(self.descriptor, self._spare + len(piece)):
                raise Away("There is no room on the disk for this file; nothing of it was kept.")
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
            self._behind += len(piece)
            if self._behind >= FLUSHED:
                os.fdatasync(self.descriptor)
                self._behind = 0
        self._hash.update(piece)

    def flush(self) -> None:
        with beneath.named_errors():
            os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


def _part(home: int) -> tuple[str, int]:
    """Name and descriptor of a new one, held. Whoever sweeps may have taken it between being made and being held; then another."""
    while True:
        name = f"{PART}{fresh_id()}"
        descriptor = beneath.create(home, name)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if beneath.is_still(home, name, descriptor):
            return name, descriptor
        os.close(descriptor)


def has_free(descriptor: int, wanted: int) -> bool:
    facts = os.fstatvfs(descriptor)
    return facts.f_bavail * facts.f_frsize >= wanted


def drop(home: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=home)


def sweep(home: int) -> int:
    """Delete what a crash left of files that were coming in; how many."""
    found = [each.name for each in os.scandir(home) if each.name.startswith(PART)]
    return sum(_swept(home, name) for name in found)


def _swept(home: int, name: str) -> bool:
    with suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=home)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name, dir_fd=home)
            return True
        finally:
            os.close(descriptor)
    return False
