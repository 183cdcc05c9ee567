"""What a process is and may, and where OS users listen, from /proc: what really is, not what was told."""

import grp
import pwd
from pathlib import Path
from urllib.parse import urlsplit

from infra.local.config import Config
from infra.local.instances import base_of
from infra.local.layout import APPS, GROUP
from infra.observe.installation import Installation
from shared.settings import FRONTS

NO_CAPABILITIES = {0}
CAPABILITIES = ("CapEff", "CapPrm", "CapBnd", "CapAmb")


def status_of(pid: int) -> dict[str, str]:
    """Fields of /proc/<pid>/status. OSError when it is gone."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def uids_of(status: dict[str, str]) -> set[int]:
    """Real, effective, saved, file system."""
    return {int(each) for each in status["Uid"].split()}


def groups_of(status: dict[str, str]) -> set[int]:
    return {int(each) for each in status["Groups"].split()}


def capabilities_of(status: dict[str, str]) -> set[int]:
    return {int(status[name], 16) for name in CAPABILITIES}


def expected_groups(here: Installation, user: str) -> set[int]:
    """Its own and, where it must reach the Postgres socket, the shared one."""
    own = {here.who.gids[user]}
    return own if user in ("nats", APPS) else own | {grp.getgrnam(GROUP).gr_gid}


def addresses_of(config: Config, part: str) -> list[str]:
    """Where a part must listen: `address:port`. The silent services' lists are empty."""
    base = base_of(part)
    if base == "nats":
        ports = [config.ports[part], *([config.ports[f"{part}-route"]] if f"{part}-route" in config.ports else [])]
        return [f"127.0.0.1:{port}" for port in ports]
    if base not in FRONTS:
        return []
    front = FRONTS[base]
    host, port = config.listen.get(front) or urlsplit(config.urls[front]).hostname or "", config.ports[front]
    return sorted(f"{address}:{port}" for address in (["127.0.0.1", "::1"] if host == "localhost" else [host]))


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
