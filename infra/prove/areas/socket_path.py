"""The way to the Postgres socket: nobody may put another one in its place (S9)."""

import socket
import stat
from pathlib import Path

from infra.observe.lying import facts, owned
from infra.prove.check import Book
from infra.prove.target import Target
from shared.db.engine import peer_uid


def check_socket_path(target: Target, book: Book) -> None:
    folder = target.layout.pg_socket_dir
    path = folder / ".s.PGSQL.5432"
    uid, group = target.who.uids["pgadm"], target.who.group
    book.same("socket", "its folder: owner, group, mode", owned((uid, group), "2750"), facts(folder))
    book.same("socket", "the socket: owner and mode", f"{uid} 770", _without_group(path))
    book.same("socket", "it is served by the server's own user", uid, served_by(path))
    for parent in folder.parents:
        book.holds("socket", f"the folder above: {parent.name or '/'}", _weak(parent, target.config.install_uid))


def served_by(path: Path) -> int:
    """The uid of whoever listens there; -1 when nobody does."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return -1
        return peer_uid(client)


def _without_group(path: Path) -> str:
    found = path.lstat()
    return f"{found.st_uid} {stat.S_IMODE(found.st_mode):o}"


def _weak(folder: Path, install_uid: int) -> str:
    """Why somebody else could replace what lies in this folder."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        return "it is a link"
    if found.st_uid not in (0, install_uid):
        return f"it belongs to uid {found.st_uid}"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return "everybody can write to it"
    return ""
