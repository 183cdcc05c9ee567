"""Copies for nginx: beside the workspaces, which nobody but the agent enters, lies a folder from which nginx's user may read what it knows the name of.

A copy is made when nginx first asks for a file, and anew when the file has changed. It is a cache: what lies in it can be deleted at any time.
All of it blocks: it runs in a thread.
"""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

from services.agent.downloads.domain import Opened
from shared.clock import now
from shared.ids import new_token

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
ROOM = 1 << 30
"""Bytes that stay free on the disk; what finds no room is served by the agent itself."""
PIECE = 8 << 20
UNUSED = 3600.0
"""Seconds after which a copy that nobody asks for goes."""
NEW = ".new-"
FICLONE = 0x40049409


class Spool:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, download_id: UUID, source: Opened) -> bool:
        """See that a copy of just this file lies there. False when there is no room, or no folder for it."""
        try:
            with self._open() as at:
                name, before = str(download_id), _facts(at, str(download_id))
                if before is not None and _is_ours(before, os.fstat(at).st_gid) and _is_same(before, source):
                    os.utime(name, ns=(_now_ns(), before.st_mtime_ns), dir_fd=at, follow_symlinks=False)
                    return True
                return _has_room(at, source) and _copy(at, name, source, before)
        except OSError:
            return False

    def remove(self, *ids: UUID) -> None:
        with suppress(OSError), self._open() as at:
            for each in ids:
                with suppress(FileNotFoundError):
                    os.unlink(str(each), dir_fd=at)

    def names(self) -> list[UUID]:
        """Whose copies lie there."""
        found: list[UUID] = []
        with suppress(OSError), self._open() as at:
            for name in _names(at):
                with suppress(ValueError):
                    found.append(UUID(name))
        return found

    def clear(self) -> None:
        """What nobody has asked for lately, what a crash left, and what is no copy of ours."""
        with suppress(OSError), self._open() as at:
            group, late = os.fstat(at).st_gid, now().timestamp() - UNUSED
            for name in _names(at):
                facts = _facts(at, name)
                if facts is not None and (max(facts.st_atime, facts.st_ctime) < late or not _is_ours(facts, group)):
                    with suppress(OSError):
                        os.unlink(name, dir_fd=at)

    @contextmanager
    def _open(self) -> Iterator[int]:
        at = os.open(self._folder, _DIR)
        try:
            yield at
        finally:
            os.close(at)


def _copy(at: int, name: str, source: Opened, before: os.stat_result | None) -> bool:
    """Whole or not at all. Its time is the source's, but later than that of a version before it: nginx tells versions apart by seconds and size."""
    new = f"{NEW}{new_token()}"
    made = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    try:
        whole = _fill(made, source)
        seconds = max(source.changed // 10**9, 0 if before is None else before.st_mtime_ns // 10**9 + 1)
        os.utime(made, ns=(_now_ns(), seconds * 10**9 + _mark(source)))
        os.fchmod(made, 0o640)
        if whole:
            os.rename(new, name, src_dir_fd=at, dst_dir_fd=at)
        return whole
    finally:
        os.close(made)
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=at)


def _fill(made: int, source: Opened) -> bool:
    """Shared blocks where the file system can; else what is written in the source, holes left out. False when the source has shrunk meanwhile."""
    with suppress(OSError):
        fcntl.ioctl(made, FICLONE, source.descriptor)
        return os.fstat(made).st_size == source.size
    os.ftruncate(made, source.size)
    at = 0
    while at < source.size:
        try:
            at = os.lseek(source.descriptor, at, os.SEEK_DATA)
        except OSError as error:
            return error.errno == errno.ENXIO and os.fstat(source.descriptor).st_size == source.size
        end = min(os.lseek(source.descriptor, at, os.SEEK_HOLE), source.size)
        os.lseek(made, at, os.SEEK_SET)
        while at < end:
            sent = os.sendfile(made, source.descriptor, at, min(PIECE, end - at))
            if not sent:
                return False
            at += sent
    return True


def _mark(source: Opened) -> int:
    """Nanoseconds by which a copy says of which version of the source it is."""
    told = f"{source.inode} {source.changed} {source.size}".encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8]) % 10**9


def _is_same(copy: os.stat_result, source: Opened) -> bool:
    return copy.st_size == source.size and copy.st_mtime_ns % 10**9 == _mark(source)


def _is_ours(facts: os.stat_result, group: int) -> bool:
    plain = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and facts.st_uid == os.geteuid()
    return plain and facts.st_gid == group and stat.S_IMODE(facts.st_mode) in (0o600, 0o640)


def _has_room(at: int, source: Opened) -> bool:
    disk, needed = os.fstatvfs(at), os.fstat(source.descriptor).st_blocks * 512
    return disk.f_bavail * disk.f_frsize >= needed + ROOM


def _names(at: int) -> list[str]:
    with os.scandir(at) as found:
        return [each.name for each in found]


def _now_ns() -> int:
    return int(now().timestamp()) * 10**9


def _facts(at: int, name: str) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    return None
