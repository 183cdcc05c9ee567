"""How files and folders lie: owner, group, mode; no links where a service can write (S3, S9)."""

import os
import stat
from pathlib import Path

from infra.observe.keyfiles import names_of
from infra.observe.lying import facts, required, walk
from infra.prove.check import Book
from infra.prove.target import Target
from schemas.catalogue import SERVICES


def check_lying(target: Target, book: Book) -> None:
    for path, expected in required(target):
        name = str(path.relative_to(target.layout.state)) or "."
        book.same("modes", f"owner, group, mode: {name}", expected, facts(path) if os.path.lexists(path) else "missing")
    links = [str(path.relative_to(target.layout.state)) for path in walk(target.layout.state) if path.is_symlink()]
    book.holds("modes", "no link anywhere in the state directory", ", ".join(links[:5]))
    book.holds("modes", "nothing that everybody can write, nothing set-uid", ", ".join(_loose(target)[:5]))
    book.holds("modes", "no stray file among the keys", ", ".join(_strays(target)[:5]))


def _loose(target: Target) -> list[str]:
    found = []
    for path in walk(target.layout.state):
        status = path.lstat()
        open_to_all = (
            status.st_mode & stat.S_IWOTH and not stat.S_ISLNK(status.st_mode) and not _is_health_socket(path, status)
        )
        if open_to_all or (stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_ISUID | stat.S_ISGID)):
            found.append(str(path.relative_to(target.layout.state)))
    return found


def _is_health_socket(path: Path, status: os.stat_result) -> bool:
    """Health is for everybody on the machine, and connecting to a socket needs the right to write."""
    return path.name in ("health.sock", "apps.sock") and stat.S_ISSOCK(status.st_mode)


def _strays(target: Target) -> list[str]:
    keys = target.layout.keys
    known = {f"{service}/{name}" for service in SERVICES for name in names_of(target.layout, service)} | {
        "admin/bus.nk",
        "admin/backup.key",
        *(("pacer/bus.nk",) if target.config.cluster else ()),
        *(("site/ingest.token",) if target.config.containers else ()),  # there only its own volume reaches it
    }
    others = ("admin", *(("pacer",) if target.config.cluster else ()))
    top = {
        *SERVICES,
        *others,
        "public.json",
        "operator.token",
        "ingest.token",
        *(f"{name}.pub.json" for name in (*SERVICES, *others)),
    }
    found = [entry.name for entry in keys.iterdir() if entry.name not in top]
    return found + [
        f"{folder}/{entry.name}"
        for folder in (*SERVICES, *others)
        for entry in (keys / folder).iterdir()
        if f"{folder}/{entry.name}" not in known
    ]
