"""Running processes: user, groups, capabilities; and every port on which one of our OS users listens, whoever opened it."""

import json
from pathlib import Path

from infra.local.instances import base_of
from infra.local.layout import Layout, user_of
from infra.observe.grants.line import Key, Line, State, compare, unknown
from infra.observe.installation import Installation
from infra.observe.listening import listening_by_uid, listens
from infra.observe.processes import (
    NO_CAPABILITIES,
    addresses_of,
    capabilities_of,
    expected_groups,
    group_name,
    groups_of,
    status_of,
    uids_of,
    user_name,
)


async def read_processes(here: Installation) -> list[Line]:
    expected: dict[Key, str] = {}
    found: dict[Key, str] = {}
    lost: list[Line] = []
    for part, pid in here.pids.items():
        try:
            found |= _process(here, part, pid)
        except OSError:
            lost.append(unknown("processes", _surface(part), f"process {part}", "it ended while it was looked at"))
            continue
        expected |= _declared(here, part)
    return lost + compare("processes", expected, found | _ports(here), advise)


def advise(_: str, what: str, state: State) -> str:
    if what.startswith("port "):
        place = what.rpartition(":")[2]
        if state == "missing":
            return "the part does not listen where it must: `schleuse status`, `schleuse logs`"
        return f"find out who listens and end it: ss -ltnup | grep :{place}"
    return "start it anew: `schleuse down`, `schleuse up`"


def _declared(here: Installation, part: str) -> dict[Key, str]:
    surface, user = _surface(part), user_of(part)
    found = {(surface, f"process {part}: user"): _users({here.who.uids[user]})}
    found[surface, f"process {part}: can gain privileges"] = "no"
    if here.separated:
        found[surface, f"process {part}: capabilities"] = _capabilities(NO_CAPABILITIES)
        found[surface, f"process {part}: groups"] = _groups(expected_groups(here, user))
    return found | {(surface, f"port {address}"): "listens" for address in addresses_of(here.config, part) if not address.startswith("::")}  # fmt: skip


def _process(here: Installation, part: str, pid: int) -> dict[Key, str]:
    surface, status = _surface(part), status_of(pid)
    found = {(surface, f"process {part}: user"): _users(uids_of(status))}
    found[surface, f"process {part}: can gain privileges"] = "no" if status["NoNewPrivs"] == "1" else "yes"
    if here.separated:
        found[surface, f"process {part}: capabilities"] = _capabilities(capabilities_of(status))
        found[surface, f"process {part}: groups"] = _groups(groups_of(status))
    return found


def _users(uids: set[int]) -> str:
    return ", ".join(user_name(uid) for uid in sorted(uids))


def _groups(gids: set[int]) -> str:
    return ", ".join(sorted(group_name(gid) for gid in gids))


def _capabilities(sets: set[int]) -> str:
    return "none" if sets == NO_CAPABILITIES else ", ".join(f"{each:x}" for each in sorted(sets))


def _surface(part: str) -> str:
    return base_of(part)


def _ports(here: Installation) -> dict[Key, str]:
    """By OS user when each part has one of its own; else by process, for the one user listens for other things, too."""
    if not here.separated:
        return {(_surface(part), f"port {address}"): "listens" for part, pid in here.pids.items() for address in _own(pid) if not address.startswith("::1:")}  # fmt: skip
    elsewhere = {port for other in _other_installations(here) for port in other}
    found: dict[Key, str] = {}
    opened = listening_by_uid()
    for user, uid in here.who.uids.items():
        surface = "postgres" if user == "pgadm" else user
        for address in opened.get(uid, set()):
            if not address.startswith("::1:") and int(address.rpartition(":")[2]) not in elsewhere:
                found[surface, f"port {address}"] = "listens"
    return found


def _own(pid: int) -> list[str]:
    try:
        return listens(pid)
    except OSError:
        return []


def _other_installations(here: Installation) -> list[set[int]]:
    """Ports of other installations on this machine, which share the OS users. Only a state directory that the installing user owns counts."""
    found: dict[Path, set[int]] = {}
    ours = set(here.who.uids.values())
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and (state := _state_of(process, ours)) and state not in found:
            found[state] = _ports_of(here, state)
    return [ports for state, ports in found.items() if state != here.layout.state]


def _state_of(process: Path, uids: set[int]) -> Path | None:
    """The state directory that the command line of one of our users' processes names."""
    try:
        if process.stat().st_uid not in uids:
            return None
        words = process.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    for flag, levels in (("--state", 0), ("-c", 2)):
        if flag in words[:-1]:
            path = Path(words[words.index(flag) + 1])
            return path.parents[levels - 1] if levels and len(path.parents) >= levels else path
    return None


def _ports_of(here: Installation, state: Path) -> set[int]:
    path = Layout(state).config
    try:
        status = path.lstat()
        if status.st_uid != here.config.install_uid or status.st_mode & 0o022:
            return set()
        return {int(port) for port in json.loads(path.read_text())["ports"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()
