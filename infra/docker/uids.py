"""The one list of numbers (infra/docker/uids) that every image is made from. Standard library only: it runs before anything else."""

from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("uids")
GROUP = "schleuse"


@dataclass(frozen=True)
class User:
    """`gid` is the same number. `socket`: may reach the Postgres socket, as a member of the group."""

    name: str
    uid: int
    socket: bool


def users() -> dict[str, User]:
    """By name; the group's entry is `group()`."""
    found = [User(name, int(uid), socket == "socket") for name, uid, socket in _lines()]
    return {user.name: user for user in found if user.name != GROUP}


def group() -> int:
    """The gid of the group that may reach the Postgres socket."""
    return next(int(uid) for name, uid, _ in _lines() if name == GROUP)


def _lines() -> list[list[str]]:
    lines = [line.split() for line in FILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    wrong = [line for line in lines if len(line) != 3]
    if wrong:
        raise ValueError(f"{FILE}: {wrong[0]} is not `name uid socket|-`")
    return lines
