"""Making folders and files as root without being led astray (S9).

Everything here works in folders that only the installing user can write. What belongs to a service is made under another name, filled, given away and
only then renamed into place; afterwards nobody but the service touches what is inside.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from shared.errors import Refused

Owner = tuple[int, int]


def folder(path: Path, mode: int, owner: Owner | None = None) -> None:
    """Make a folder with that mode and owner; an existing one is checked, never followed, and its inside is left alone."""
    if not _exists(path):
        new = path.with_name(f".new-{path.name}")
        _discard(new)
        new.mkdir(mode=0o700)
        _give(new, mode, owner)
        new.rename(path)
    check_folder(path, mode, owner)


def check_folder(path: Path, mode: int, owner: Owner | None = None) -> None:
    """Correct mode and owner of a folder through an open descriptor of it, so that no link can be swapped in."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise Refused(
            f"{path} must be a folder of its own, not a link or file ({error.strerror})", code="state"
        ) from None
    try:
        found = os.fstat(handle)
        if owner is not None and (found.st_uid, found.st_gid) != owner:
            os.fchown(handle, *owner)
        if stat.S_IMODE(found.st_mode) != mode:
            os.fchmod(handle, mode)
    finally:
        os.close(handle)


def write(path: Path, content: bytes | str, mode: int, owner: Owner | None = None) -> None:
    """Replace a file in one step: readers see the old or the new content, a crash leaves the old."""
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".new-{path.name}")
    _discard(new)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb", closefd=False) as stream:
            stream.write(data)
        if owner is not None and owner != (os.getuid(), os.getgid()):
            os.fchown(handle, *owner)
        os.fchmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)
    new.rename(path)


def filled_folder(path: Path, files: dict[str, str], owner: Owner) -> None:
    """A 0700 folder with 0600 files, complete or absent. Only for a path that does not exist yet."""
    new = path.with_name(f".new-{path.name}")
    _discard(new)
    new.mkdir(mode=0o700)
    for name, content in files.items():
        write(new / name, content, 0o600, owner)
    _give(new, 0o700, owner)
    new.rename(path)


def put_inside(place: Path, name: str, content: str, owner: Owner) -> None:
    """A 0600 file in a folder that belongs to a service: made anew through an open descriptor of the folder, so that no link is followed."""
    folder_handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_handle)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder_handle), "wb") as stream:
            stream.write(content.encode())
            stream.flush()
            if owner != (os.getuid(), os.getgid()):
                os.fchown(stream.fileno(), *owner)
            os.fsync(stream.fileno())
        os.fsync(folder_handle)
    finally:
        os.close(folder_handle)


def rename_inside(place: Path, name: str, to: str) -> None:
    """Give a file in such a folder its name; nothing happens when there is none, or when the name is taken."""
    folder_handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with suppress(FileNotFoundError, FileExistsError):
            os.link(name, to, src_dir_fd=folder_handle, dst_dir_fd=folder_handle, follow_symlinks=False)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_handle)
        os.fsync(folder_handle)
    finally:
        os.close(folder_handle)


def _give(path: Path, mode: int, owner: Owner | None) -> None:
    if owner is not None and owner != (os.getuid(), os.getgid()):
        os.chown(path, *owner, follow_symlinks=False)
    path.chmod(mode)


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _discard(path: Path) -> None:
    """Remove what an interrupted step left. It lies in a folder that only we can write."""
    if not _exists(path):
        return
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for inner in path.iterdir():
        _discard(inner)
    path.rmdir()
