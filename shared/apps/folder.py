"""An app's folder as it is sent, approved and run: its files, their hash, and what it may not hold."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

MAX_FILES = 400
MAX_FILE = 2 * 1024 * 1024
MAX_FOLDER = 8 * 1024 * 1024
MANIFEST = "app.toml"
LEFT_OUT = frozenset({"__pycache__", "node_modules"})
"""Folders that are not part of an app; neither is what begins with a dot."""
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,7}")


class BadFolder(ValueError):
    """What is wrong with it, in words for whoever sends it."""


def read_folder(place: Path) -> dict[str, bytes]:
    """Every file by its path below `place`. Links are refused, so that nothing from elsewhere is sent."""
    if not place.is_dir():
        raise BadFolder(f"{place} is no folder")
    found: dict[str, bytes] = {}
    for base, folders, files in os.walk(place):
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in LEFT_OUT)
        for name in sorted([*files, *(each for each in folders if Path(base, each).is_symlink())]):
            if not name.startswith("."):
                file = Path(base, name)
                found[file.relative_to(place).as_posix()] = _content(file)
                check_size(found)
    check_folder(found)
    return found


def _content(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        raise BadFolder(f"{file} is no plain file; links and devices are not sent")
    if file.stat().st_size > MAX_FILE:
        raise BadFolder(f"{file} is larger than {MAX_FILE // 1024 // 1024} MiB")
    return file.read_bytes()


def check_size(files: Mapping[str, bytes]) -> None:
    """Never reads much more than may be sent."""
    if len(files) > MAX_FILES:
        raise BadFolder(f"an app has at most {MAX_FILES} files")
    if sum(map(len, files.values())) > MAX_FOLDER:
        raise BadFolder(f"an app has at most {MAX_FOLDER // 1024 // 1024} MiB")


def check_folder(files: Mapping[str, bytes]) -> None:
    """BadFolder for too many or too large files, names that mean something elsewhere, and a missing app.toml."""
    check_size(files)
    for path, content in files.items():
        if not _PATH.fullmatch(path):
            raise BadFolder(
                f"{path!r} cannot be the name of a file of an app: letters, digits, _ - . and up to 8 folders"
            )
        if len(content) > MAX_FILE:
            raise BadFolder(f"{path} is larger than {MAX_FILE // 1024 // 1024} MiB")
    for path in files:
        if any(other.startswith(f"{path}/") for other in files):
            raise BadFolder(f"{path} is a file and a folder")
    if MANIFEST not in files:
        raise BadFolder(f"there is no {MANIFEST}")


def folder_hash(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the sorted list of paths with the SHA-256 of their bytes: what a person approves."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\x00{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return whole.hexdigest()


def has_code(files: Mapping[str, bytes]) -> bool:
    return any(path.endswith(".py") for path in files)
