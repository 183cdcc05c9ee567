"""Tar as a stream: written file by file while the files may change, read back with nothing trusted but names, sizes and modes."""

import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from shared.errors import Refused

PIECE = 1024**2


def add_bytes(out: BinaryIO, name: str, data: bytes) -> None:
    out.write(_head(name, len(data)))
    out.write(data)
    out.write(_padding(len(data)))


def add_folder(out: BinaryIO, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o700
    out.write(entry.tobuf(tarfile.PAX_FORMAT))


def add_file(out: BinaryIO, path: Path, name: str, wrote: Callable[[int], None]) -> None:
    """The file as long as it is now: what it grows by is left, what it shrinks by is zeros. A file that is gone is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    with os.fdopen(handle, "rb", buffering=0) as file:
        size = left = os.fstat(handle).st_size
        out.write(_head(name, size))
        while left:
            piece = file.read(min(PIECE, left)) or bytes(min(PIECE, left))
            out.write(piece)
            left -= len(piece)
            wrote(len(piece))
    out.write(_padding(size))


def end(out: BinaryIO) -> None:
    out.write(bytes(2 * tarfile.BLOCKSIZE))
    out.flush()


def _head(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def walk(folder: Path, skip: Callable[[str], bool], inside: str = "") -> Iterator[tuple[str, Path, bool]]:
    """(name, path, is a folder) of everything below, links and sockets left out; `skip` is asked by name."""
    with suppress(FileNotFoundError):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            name = f"{inside}{entry.name}"
            if skip(name):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield name, Path(entry.path), True
                yield from walk(Path(entry.path), skip, f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield name, Path(entry.path), False


def unpack(source: BinaryIO, into: Path) -> int:
    """Make what a stream holds below a folder of ours; how many bytes. Refused for anything but plain files and folders below it."""
    total = 0
    with tarfile.open(fileobj=source, mode="r|", bufsize=PIECE) as archive:
        for entry in archive:
            target = into / checked(entry.name)
            if entry.isdir():
                target.mkdir(mode=0o700, exist_ok=True)
                continue
            if not entry.isreg():
                raise Refused(f"the archive holds something that is neither file nor folder: {entry.name}")
            total += _write(archive, entry, target)
    return total


def checked(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise Refused(f"the archive names a place outside of its folder: {name!r}")
    return path


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> int:
    reading = archive.extractfile(entry)
    assert reading is not None, "it is a regular file"
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb", buffering=0) as file:
        while piece := reading.read(PIECE):
            file.write(piece)
    return entry.size


def fsync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
