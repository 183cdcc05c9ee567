"""OS users and groups: ids of their own, no way to log in, who is in the group that may reach Postgres, and who may leave the machine."""

import grp
import pwd
from pathlib import Path

from infra.local.identities import IN_GROUP, NO_LOGIN
from infra.local.layout import ALL_USERS, GROUP
from infra.observe.grants.leaving import read_leaving
from infra.observe.grants.line import Key, Line, State, compare
from infra.observe.installation import Installation

SHADOW = Path("/etc/shadow")


async def read_users(here: Installation) -> list[Line]:
    if not here.separated:
        return [Line("users", "installation", "OS users", "one of their own for every part", f"all parts run as {here.config.users['console']}", "open", "install as root to separate them"), *await read_leaving(here)]  # fmt: skip
    expected: dict[Key, str] = {}
    found: dict[Key, str] = {}
    for name in ALL_USERS:
        surface = "postgres" if name == "pgadm" else name
        expected |= _expected(here, surface, name)
        found |= _found(surface, name)
    expected["installation", f"group {GROUP}: members"] = ", ".join(sorted(IN_GROUP))
    found["installation", f"group {GROUP}: members"] = ", ".join(_members(GROUP))
    return [*compare("users", expected, found, advise), *await read_leaving(here)]


def advise(_: str, what: str, state: State) -> str:
    if what.endswith("members"):
        return f"take whoever does not belong there out of it: gpasswd -d NAME {GROUP}"
    if what.endswith("shell"):
        return f"usermod --shell {NO_LOGIN} {what.split(' ')[1].rstrip(':')}"
    if what.endswith("password"):
        return f"passwd --lock {what.split(' ')[1].rstrip(':')}"
    return "a start makes missing users; a changed one is set right by usermod, with everything stopped"


def _expected(here: Installation, surface: str, name: str) -> dict[Key, str]:
    groups = sorted({name, *([GROUP] if name in IN_GROUP else [])})
    said = {"uid": str(here.config.uids[name]), "shell": NO_LOGIN, "groups": ", ".join(groups), "password": "none"}
    return {(surface, f"user {name}: {what}"): value for what, value in said.items()}


def _found(surface: str, name: str) -> dict[Key, str]:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return {}
    groups = {grp.getgrgid(entry.pw_gid).gr_name, *(each.gr_name for each in grp.getgrall() if name in each.gr_mem)}
    said = {"uid": str(entry.pw_uid), "shell": entry.pw_shell, "groups": ", ".join(sorted(groups)), "password": _password(name)}  # fmt: skip
    return {(surface, f"user {name}: {what}"): value for what, value in said.items()}


def _members(group: str) -> list[str]:
    """By name, and whoever has it as the first group."""
    entry = grp.getgrnam(group)
    return sorted({*entry.gr_mem, *(each.pw_name for each in pwd.getpwall() if each.pw_gid == entry.gr_gid)})


def _password(name: str) -> str:
    """Whether somebody could log in with one; never what it is."""
    try:
        lines = SHADOW.read_text().splitlines()
    except OSError:
        return "unknown"
    fields = next((line.split(":") for line in lines if line.startswith(f"{name}:")), ["", "!"])
    return "none" if fields[1][:1] in ("!", "*") else "set" if fields[1] else "empty"
