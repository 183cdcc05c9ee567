"""What must be so before starting: a state of this version, free ports, room on the disk."""

import shutil
import socket
from pathlib import Path

from infra.local import config
from infra.local.layout import Layout
from shared.errors import Refused

FRESH_BYTES = 300 * 1024**2
"""What the first start writes (cluster, write-ahead log, streams) with some room to work."""

RUNNING_BYTES = 64 * 1024**2

RESTORING = ".restoring"
"""Lies in a state directory from the first to the last step of a restore."""


def check(layout: Layout, port_base: int | None, cluster: bool | None = None) -> None:
    """Refused, before anything was changed."""
    if (layout.state / RESTORING).exists():
        raise Refused(
            f"a restore into {layout.state} was interrupted, and what is there is not whole; run `schleuse restore` again",
            code="restoring",
        )
    found = config.read(layout)
    base, several = config.port_base_of(found, port_base), config.cluster_of(found, cluster)
    disk(layout, fresh=found is None)
    ports(base, cluster=several)


def disk(layout: Layout, *, fresh: bool) -> None:
    needed = FRESH_BYTES if fresh else RUNNING_BYTES
    free = shutil.disk_usage(layout.state).free
    if free < needed:
        raise Refused(
            f"the disk that holds {layout.state} has {free // 1024**2} MiB free; {needed // 1024**2} MiB are needed to start. Nothing was changed.",
            code="disk_full",
        )


def has_room(path: Path) -> bool:
    """Whether the disk has what a running system needs."""
    return shutil.disk_usage(path).free >= RUNNING_BYTES


def ports(base: int, *, cluster: bool = False) -> None:
    """Every port of ours must be free on the address that will use it."""
    wanted = config.ports_from(base, cluster=cluster)
    taken = [_says(name, port) for name, port in wanted.items() if _in_use(name, port)]
    if taken:
        raise Refused(
            f"{'; '.join(taken)}. Stop what uses it, or choose other ports with --port-base.", code="port_in_use"
        )


def _in_use(name: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.HOSTS.get(name, "127.0.0.1"), port))
        except OSError:
            return True
    return False


def _says(name: str, port: int) -> str:
    user = _user_of(port)
    return f"port {port} ({name}) is already in use" + (f" by {user}" if user else "")


def _user_of(port: int) -> str:
    """The command and process id that listens there, if we may see it."""
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(wanted) and fields[3] == "0A":
                return _owner_of_socket(f"socket:[{fields[9]}]")
    return ""


def _owner_of_socket(link: str) -> str:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for handle in (process / "fd").iterdir():
                if str(handle.readlink()) == link:
                    return f"{(process / 'comm').read_text().strip()} (process {process.name})"
        except OSError:  # gone, or not ours to see
            continue
    return ""
