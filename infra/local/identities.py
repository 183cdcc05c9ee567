"""OS users. As root every part gets a user of its own; otherwise one user runs everything and we say so."""

import grp
import os
import pwd
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from infra.local.layout import ALL_USERS, GROUP, SERVER_USERS
from schemas.catalogue import SERVICES
from shared.errors import Refused

NO_LOGIN = "/usr/sbin/nologin"
IN_GROUP = (*SERVICES, "pgadm")
"""Who may reach the Postgres socket: NATS may not."""


@dataclass(frozen=True)
class Identities:
    """Which OS user runs what. `separated` is true only when every user is a user of its own."""

    separated: bool
    users: dict[str, str]
    uids: dict[str, int]
    gids: dict[str, int]
    group: int

    @property
    def switching(self) -> bool:
        """Whether processes are started as other users than ours."""
        return any(uid != os.getuid() for uid in self.uids.values())

    def owner(self, name: str) -> tuple[int, int]:
        return self.uids[name], self.gids[name]


def as_one_user() -> Identities:
    """Everything as the user who calls (dev mode)."""
    me = pwd.getpwuid(os.getuid())
    return Identities(
        separated=False,
        users=dict.fromkeys(ALL_USERS, me.pw_name),
        uids=dict.fromkeys(ALL_USERS, me.pw_uid),
        gids=dict.fromkeys(ALL_USERS, me.pw_gid),
        group=me.pw_gid,
    )


def as_own_users() -> Identities:
    """One OS user per part, made where missing. Needs root."""
    group = _group(GROUP)
    for name in ALL_USERS:
        _user(name)
    for name in IN_GROUP:
        _join(name)
    found = {name: pwd.getpwnam(name) for name in ALL_USERS}
    _refuse_shared_uids(found)
    return Identities(
        separated=True,
        users={name: name for name in ALL_USERS},
        uids={name: entry.pw_uid for name, entry in found.items()},
        gids={name: entry.pw_gid for name, entry in found.items()},
        group=group,
    )


def servers_only() -> Identities:
    """For tests as root: the servers (which refuse root) as their users, every service as the caller, nothing separated."""
    own, mine = as_own_users(), as_one_user()
    return Identities(
        separated=False,
        users={**mine.users, **{name: name for name in SERVER_USERS}},
        uids={**mine.uids, **{name: own.uids[name] for name in SERVER_USERS}},
        gids={**mine.gids, **{name: own.gids[name] for name in SERVER_USERS}},
        group=own.group,
    )


def resolve() -> Identities:
    return as_own_users() if os.getuid() == 0 else as_one_user()


def _group(name: str) -> int:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        _admin(["groupadd", "--system", name])
        return grp.getgrnam(name).gr_gid


def _user(name: str) -> None:
    try:
        pwd.getpwnam(name)
    except KeyError:
        _group(name)
        _admin(["useradd", "--system", "--no-create-home", "--shell", NO_LOGIN, "--gid", name, name])


def _join(name: str) -> None:
    if name not in grp.getgrnam(GROUP).gr_mem:
        _admin(["usermod", "--append", "--groups", GROUP, name])


def _refuse_shared_uids(found: dict[str, pwd.struct_passwd]) -> None:
    uids = [entry.pw_uid for entry in found.values()]
    if 0 in uids or len(set(uids)) != len(uids):
        raise Refused(f"the OS users {', '.join(found)} must have different user ids, none of them 0", code="users")


def _admin(command: list[str]) -> None:
    tool = next((path for path in _tools(command[0]) if path.exists()), None)
    if tool is None:
        raise Refused(f"{command[0]} is needed to make the OS users, and is not installed", code="users")
    done = subprocess.run([str(tool), *command[1:]], capture_output=True, text=True, check=False)  # noqa: S603 - fixed tool, fixed names
    if done.returncode not in (0, 9):  # 9: another start made it in the same moment
        raise Refused(f"{command[0]} failed: {done.stderr.strip()}", code="users")


def _tools(name: str) -> Iterable[Path]:
    return (Path(folder) / name for folder in ("/usr/sbin", "/sbin", "/usr/bin"))
