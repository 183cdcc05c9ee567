"""How files and folders lie: owner, group, mode; no links where a service can write (S3, S9)."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from infra.prove.areas.socket_path import facts
from infra.prove.check import Book
from infra.prove.keyfiles import names_of
from infra.prove.target import Target
from schemas.catalogue import SERVICES

NOT_WALKED = ("runtime", "data-", "js")
"""Our own copy of the interpreter has links; the servers' data folders are theirs alone."""


def check_lying(target: Target, book: Book) -> None:
    for path, expected in _expected(target):
        name = str(path.relative_to(target.layout.state)) or "."
        book.same("modes", f"owner, group, mode: {name}", expected, facts(path) if os.path.lexists(path) else "missing")
    links = [str(path.relative_to(target.layout.state)) for path in _walk(target.layout.state) if path.is_symlink()]
    book.holds("modes", "no link anywhere in the state directory", ", ".join(links[:5]))
    book.holds("modes", "nothing that everybody can write, nothing set-uid", ", ".join(_loose(target)[:5]))
    book.holds("modes", "no stray file among the keys", ", ".join(_strays(target)[:5]))


def _expected(target: Target) -> Iterator[tuple[Path, str]]:
    layout, who, me = target.layout, target.who, (os.getuid(), os.getgid())
    site, nats, pgadm = who.owner("site"), who.owner("nats"), who.owner("pgadm")
    for path in (layout.state, layout.keys, layout.run, layout.tls, layout.nats, layout.logs):
        yield path, _owned(me, "755")
    for path in (layout.config, layout.public_keys, layout.tls / "ca.pem", layout.nats_conf, layout.processes):
        yield path, _owned(me, "644")
    yield layout.operator_token, _owned(me, "600")
    yield layout.ingest_token, _owned((me[0], site[1]), "640")
    yield layout.tls / "nats.key", _owned(nats, "600")
    yield layout.control, _owned(me, "600")
    yield layout.nats / "js", _owned(nats, "700")
    yield layout.pg, _owned(pgadm, "700")
    yield layout.keys / "admin", _owned(me, "700")
    yield layout.admin_seed, _owned(me, "600")
    yield layout.backup_key, _owned(me, "600")
    for service in SERVICES:
        owner = who.owner(service)
        yield layout.keys / service, _owned(owner, "700")
        yield layout.keys / f"{service}.pub.json", _owned(me, "644")
        yield layout.run / service, _owned(owner, "755")
        yield layout.run / service / "op.sock", _owned(owner, "600")
        for name in names_of(layout, service):
            yield layout.keys / service / name, _owned(owner, "600")


def _owned(owner: tuple[int, int], mode: str) -> str:
    return f"{owner[0]} {owner[1]} {mode}"


def _walk(folder: Path) -> Iterator[Path]:
    """Everything below, links not followed."""
    for entry in os.scandir(folder):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(NOT_WALKED):
            yield from _walk(Path(entry.path))


def _loose(target: Target) -> list[str]:
    found = []
    for path in _walk(target.layout.state):
        status = path.lstat()
        open_to_all = (
            status.st_mode & stat.S_IWOTH and not stat.S_ISLNK(status.st_mode) and not _is_health_socket(path, status)
        )
        if open_to_all or (stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_ISUID | stat.S_ISGID)):
            found.append(str(path.relative_to(target.layout.state)))
    return found


def _is_health_socket(path: Path, status: os.stat_result) -> bool:
    """Health is for everybody on the machine, and connecting to a socket needs the right to write."""
    return path.name == "health.sock" and stat.S_ISSOCK(status.st_mode)


def _strays(target: Target) -> list[str]:
    keys = target.layout.keys
    known = {f"{service}/{name}" for service in SERVICES for name in names_of(target.layout, service)} | {
        "admin/bus.nk",
        "admin/backup.key",
    }
    top = {
        *SERVICES,
        "admin",
        "public.json",
        "operator.token",
        "ingest.token",
        *(f"{name}.pub.json" for name in (*SERVICES, "admin")),
    }
    found = [entry.name for entry in keys.iterdir() if entry.name not in top]
    return found + [
        f"{folder}/{entry.name}"
        for folder in (*SERVICES, "admin")
        for entry in (keys / folder).iterdir()
        if f"{folder}/{entry.name}" not in known
    ]
