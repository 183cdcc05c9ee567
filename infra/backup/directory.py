"""A backup's own folder: where it may be, holding it for one run at a time, and making the whole appear in one step."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.backup.entries import fsync_folder
from infra.backup.manifest import NAME, PARTIAL, WHOLE
from infra.local import folders
from infra.local.layout import Layout
from shared.errors import Refused

LOG, HEAD = "gate.log", "gate.head"
OURS = {PARTIAL, WHOLE, LOG, HEAD}


def settle(named: Path, layout: Layout) -> Path:
    """The folder, made where it is missing, 0700. Refused where a backup would be lost, seen, or replaced by others."""
    directory = named.resolve()
    if directory == layout.state or layout.state in directory.parents or directory in layout.state.parents:
        raise Refused(
            f"{named} lies in the state directory (or around it): a backup there is lost with it. Name another folder.",
            code="inside",
        )
    _refuse_open_parents(directory)
    if directory.exists():
        _refuse_foreign(named, directory)
    else:
        directory.mkdir(parents=True, mode=0o700)
    folders.check_folder(directory, 0o700)
    return directory


@contextmanager
def held(directory: Path) -> Iterator[Path]:
    """The `.partial` folder of this run, empty. Whatever happens inside, nothing of it stays; `finish` renames it before."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    partial = directory / PARTIAL
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"a backup is just being written to {directory}", code="running") from None
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(handle)


def finish(partial: Path) -> None:
    """Durable first, then whole in one step."""
    fsync_folder(partial)
    partial.rename(partial.parent / WHOLE)
    fsync_folder(partial.parent)


def _refuse_open_parents(directory: Path) -> None:
    for parent in directory.parents:
        if not parent.exists():
            continue
        found = parent.stat()
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            raise Refused(
                f"everybody can write to {parent}: whoever does could replace the backup. Name another folder.",
                code="open_parent",
            )


def _refuse_foreign(named: Path, directory: Path) -> None:
    if not directory.is_dir():
        raise Refused(f"{named} is not a folder", code="foreign")
    if directory.stat().st_uid != os.getuid():
        raise Refused(f"{named} belongs to another user; name another folder", code="foreign")
    if (directory / WHOLE / NAME).exists():
        raise Refused(f"{named} holds a backup already; name a new folder for the next one", code="exists")
    strangers = sorted(entry.name for entry in directory.iterdir() if entry.name not in OURS)
    if strangers:
        raise Refused(
            f"{named} is not empty and no backup ({', '.join(strangers[:3])}); name an empty or new folder", code="foreign"
        )  # fmt: skip
