"""Files below one folder, and nowhere else: every step by an open descriptor, no link followed, nothing but plain files (rule 14).

All of it blocks: it runs in a thread. Names come checked from domain.check_path.
"""

import errno
import fcntl
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from shared.errors import Away, NotFound, Refused

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = ".new"
"""What is written before it gets its name. Whoever holds the workspace's lock may throw away what a crash left of it."""


@dataclass(frozen=True)
class Entry:
    """A file of a workspace. `path` is relative, joined by `/`; `changed` in seconds since 1970."""

    path: str
    size: int
    changed: float


@contextmanager
def named_errors() -> Iterator[None]:
    """OSError as one of ours."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Away("the disk is full; nothing was written") from None
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EMLINK, errno.ENXIO, errno.ENODEV):
            raise Refused(
                "A link, or something that is no plain file, lies there; it is not followed.", code="link"
            ) from None
        if error.errno == errno.ENOENT:
            raise NotFound("There is no such file.", code="file") from None
        raise


def open_folder(at: int | None, name: str | Path, *, make: bool = False) -> int:
    """A descriptor of a folder of our own; made with mode 0700 when it is missing and `make`."""
    try:
        found = os.open(name, _DIR, dir_fd=at)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=at)
        found = os.open(name, _DIR, dir_fd=at)
        if at is not None:
            os.fsync(at)
    if os.fstat(found).st_uid != os.geteuid():
        os.close(found)
        raise Refused("A folder that belongs to somebody else lies there; it is not entered.", code="link")
    return found


@contextmanager
def folder(home: int, parts: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """The folder below `home` that these segments lead to."""
    here = os.dup(home)
    try:
        for part in parts:
            below = open_folder(here, part, make=make)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def open_file(at: int, name: str, flags: int) -> int:
    """A plain file with one name only; whatever else lies there is refused."""
    found = os.open(name, flags | _FILE, 0o600, dir_fd=at)
    facts = os.fstat(found)
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1 or facts.st_uid != os.geteuid():
        os.close(found)
        raise Refused("A link, or something that is no plain file, lies there; it is not followed.", code="link")
    return found


def create(at: int, name: str) -> int:
    """A new, empty file. FileExistsError when something has that name."""
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=at)


def read(at: int, name: str, most: int, offset: int = 0) -> tuple[bytes, int]:
    """At most `most` bytes from `offset`, and how long the file is."""
    found = open_file(at, name, os.O_RDONLY)
    try:
        return _read(found, most, offset), os.fstat(found).st_size
    finally:
        os.close(found)


def append(at: int, name: str, line: bytes) -> int:
    """Add a line at the end, on a line of its own; how long the file is then. What an editor put in its place meanwhile gets it, too."""
    while True:
        found = open_file(at, name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            before = os.fstat(found).st_size
            lead = b"" if before == 0 or os.pread(found, 1, before - 1) == b"\n" else b"\n"
            _write(found, lead + line + b"\n")
            os.fsync(found)
            if is_still(at, name, found):
                os.fsync(at)
                return os.fstat(found).st_size
        finally:
            os.close(found)


def replace(at: int, name: str, content: bytes, unless_changed: os.stat_result | None = None) -> bool:
    """The new content in one step; a crash leaves the old. False when the file is not any more what `unless_changed` describes."""
    with suppress(FileNotFoundError):
        os.unlink(NEW, dir_fd=at)
    made = create(at, NEW)
    try:
        _write(made, content)
        os.fsync(made)
    finally:
        os.close(made)
    if unless_changed is not None and _marks(_facts(at, name)) != _marks(unless_changed):
        os.unlink(NEW, dir_fd=at)
        return False
    os.replace(NEW, name, src_dir_fd=at, dst_dir_fd=at)
    os.fsync(at)
    return True


def exists(at: int, name: str) -> bool:
    return _facts(at, name) is not None


def is_still(at: int, name: str, descriptor: int) -> bool:
    """Whether the open file is the one that has this name."""
    there, ours = _facts(at, name), os.fstat(descriptor)
    return there is not None and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def walk(home: int, parts: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Every plain file below, by path; what begins with a dot, and what is no plain file, is left out."""
    for each in sorted(os.scandir(home), key=lambda found: found.name):
        if each.name.startswith("."):
            continue
        if each.is_dir(follow_symlinks=False):
            with suppress(OSError), folder(home, [each.name]) as below:
                yield from walk(below, (*parts, each.name))
        elif each.is_file(follow_symlinks=False):
            facts = each.stat(follow_symlinks=False)
            yield Entry("/".join((*parts, each.name)), facts.st_size, facts.st_mtime)


def resolve(at: int, name: str) -> str:
    """The name as it lies there: a file that was put there by hand may have its letters decomposed."""
    if not exists(at, name):
        for each in os.listdir(at):
            if unicodedata.normalize("NFC", each) == name:
                return each
    return name


def digest(descriptor: int) -> str:
    """Lower-case hex SHA-256 of a file, piece by piece."""
    found, at = hashlib.sha256(), 0
    while piece := os.pread(descriptor, 1 << 20, at):
        found.update(piece)
        at += len(piece)
    return found.hexdigest()


def try_lock(home: int) -> bool:
    """Among all processes: whoever writes in this workspace holds it. Let go by closing the descriptor."""
    try:
        fcntl.flock(home, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _facts(at: int, name: str) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    return None


def _marks(facts: os.stat_result | None) -> tuple[int, int, int] | None:
    return None if facts is None else (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _read(descriptor: int, most: int, offset: int) -> bytes:
    found = b""
    while len(found) < most and (piece := os.pread(descriptor, most - len(found), offset + len(found))):
        found += piece
    return found


def _write(descriptor: int, content: bytes) -> None:
    """All of it, or what was there before."""
    before = os.fstat(descriptor).st_size
    try:
        for start in range(0, len(content), 1 << 20):
            piece = content[start : start + (1 << 20)]
            while piece:
                piece = piece[os.write(descriptor, piece) :]
    except OSError:
        os.ftruncate(descriptor, before)
        raise
