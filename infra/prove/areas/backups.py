"""Area backups: what the installation backed up holds no key, lies where nobody else reads it, and is what was signed (S6, S12)."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from infra.backup import followed, manifest
from infra.backup.directory import HEAD, LOG
from infra.backup.followed import Known
from infra.backup.manifest import NAME, PARTIAL, SIGNATURE, WHOLE
from infra.backup.sealing import FORM, SECRET
from infra.local import control
from infra.local.layout import SEALING_KEYS, Layout
from infra.observe.lying import facts
from infra.prove.check import Book, Check
from infra.prove.target import Target
from shared.errors import SchleuseError
from shared.signing import PublicKeys

PLAIN = {NAME, SIGNATURE, LOG, HEAD}
"""Signed, or encrypted line by line."""
LOOKED_AT = 256 * 1024
NOT_WALKED = ("runtime", "data-", "js", ".new-data-")


async def check(target: Target) -> list[Check]:
    book = Book("backups")
    check_lying(target, book)
    faults = {each["directory"]: each["fault"] for each in control.ask(target.layout, "status").get("backups", [])}
    for one in followed.known(target.layout):
        if _is_there(one):
            await _attack(target, book, one)
        book.holds("lock", f"its log is written down beside {one.directory}", faults.get(one.directory, "not followed"))
    return book.checks


def check_lying(target: Target, book: Book) -> None:
    """How everything lies that can be looked at without being anybody else."""
    layout, me = target.layout, (os.getuid(), os.getgid())
    if layout.backups.exists():
        book.same("modes", "owner, group, mode: backups.json", f"{me[0]} {me[1]} 600", facts(layout.backups))
    identities = [
        str(path.relative_to(layout.state))
        for path in _files(layout.state)
        if path not in sealing_keys(layout) and _holds_identity(path)
    ]
    book.holds("state", "no age identity but the services' own lies in the state directory", ", ".join(identities[:5]))
    for one in followed.known(layout):
        if _is_there(one):
            _look(target, book, one)


def _look(target: Target, book: Book, one: Known) -> None:
    directory, name = Path(one.directory), one.directory
    for path in (directory, directory / WHOLE, directory / PARTIAL):
        if path.exists():
            book.same("modes", f"owner, group, mode: {path}", f"{os.getuid()} {os.getgid()} 700", facts(path))
    files = list(_files(directory))
    loose = [path.name for path in files if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    book.holds("modes", f"no file of {name} is open to others", ", ".join(loose[:5]))
    opened = [str(path.relative_to(directory)) for path in files if _holds_identity(path)]
    book.holds("backup", f"no identity lies in {name}", ", ".join(opened[:5]))
    plain = [str(path.relative_to(directory)) for path in files if path.name not in PLAIN and not _is_sealed(path)]
    book.holds("backup", f"everything in {name} is encrypted", ", ".join(plain[:5]))
    book.holds("backup", f"{name} is what was signed", _unsigned(target, directory))


def sealing_keys(layout: Layout) -> set[Path]:
    return {layout.keys / service / f"{duty}.key" for service, duties in SEALING_KEYS.items() for duty in duties}


def _is_there(one: Known) -> bool:
    return Path(one.directory).is_dir()


def _unsigned(target: Target, directory: Path) -> str:
    """Sizes, not every byte: `schleuse backup verify` reads those."""
    try:
        folder = manifest.whole(directory)
        found = manifest.read(folder, PublicKeys.load(target.layout.public_keys))
    except SchleuseError as error:
        return error.message
    wrong = [name for name, each in found.files.items() if not _has_size(folder / name, each.size)]
    strangers = [path.name for path in folder.iterdir() if path.name not in {*found.files, NAME, SIGNATURE}]
    return ", ".join([*wrong, *strangers])


async def _attack(target: Target, book: Book, one: Known) -> None:
    """Nobody but the installing user reads it."""
    tried = [("list", one.directory), ("read", f"{one.directory}/{WHOLE}/{NAME}"), ("create", one.directory)]
    if not target.separated:
        for op, path in tried:
            book.open(f"OS user {target.who.users['console']}", f"{op}: {path}")
        return
    attempts = [{"kind": "files", "op": op, "path": path} for op, path in tried]
    outcomes = await asyncio.gather(*(target.run(user, attempts) for user in target.users))
    for user, came in zip(target.users, outcomes, strict=True):
        for (op, path), outcome in zip(tried, came, strict=True):
            book.outcome(f"OS user {user}", f"{op}: {path}", outcome)


def _files(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith(NOT_WALKED) or folder.name == WHOLE:
                yield from _files(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _holds_identity(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return SECRET.encode() in file.read(LOOKED_AT)
    except OSError:  # gone meanwhile
        return False


def _is_sealed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(FORM)) == FORM


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
